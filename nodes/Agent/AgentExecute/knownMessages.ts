import type { SessionMessage } from '../session/messages';
import { repeatedOf } from './repeats';

/** The messages of a session that came so far, in this turn and in earlier ones. */
export class KnownMessages {
	/** Digests of what came in this turn, in the order of arrival. */
	readonly arrived: string[] = [];
	readonly #earlier: readonly string[];
	/** Of earlier turns, as long as they have not come again. */
	readonly #notAgain: Set<string>;
	readonly #ids: Set<string>;

	/** @param earlier digests of earlier turns, in the order of arrival */
	constructor(earlier: readonly string[]) {
		this.#earlier = earlier;
		this.#notAgain = new Set(earlier);
		this.#ids = new Set(earlier);
	}

	add({ digest, digestOf }: SessionMessage): void {
		if (digest === undefined) return;
		this.arrived.push(digest);
		if (digestOf === 'id') this.#ids.add(digest);
	}

	/** Whether a message with this id has come before. Messages without an id may say the same again. */
	hasId({ digest, digestOf }: SessionMessage): boolean {
		return digestOf === 'id' && digest !== undefined && this.#ids.has(digest);
	}

	/** How many of the messages that came first on a channel repeat what came before. */
	repeatedIn(came: readonly SessionMessage[]): number {
		return repeatedOf(
			[...this.#earlier, ...this.arrived],
			came.map(({ digest }) => digest),
		);
	}

	/** Whether the message is of an earlier turn and comes again for the first time. */
	firstOfEarlierTurn({ digest }: SessionMessage): boolean {
		return digest !== undefined && this.#notAgain.delete(digest);
	}
}
