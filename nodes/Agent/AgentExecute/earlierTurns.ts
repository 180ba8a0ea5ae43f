import { processSlot } from '../../core/processSlot';
import { repeatedOf } from './repeats';

/** Of one session: more than a wait collects by default. */
const maxDigests = 1000;
/** Of all sessions: about 5 MB. */
const maxDigestsOfAll = 50_000;

interface Seen {
	/** Digests of the messages of each session, in the order of their arrival; the session used last is the last one. */
	readonly bySession: Map<string, readonly string[]>;
	count: number;
}

/** What this process has seen of a session, so that a later turn tells what a service repeats from what is new. */
export interface EarlierTurns {
	/** In the order of their arrival. */
	readonly digests: readonly string[];
	/** @param digests of all messages that came on the channel of a turn, in the order of their arrival */
	remember(digests: readonly string[]): void;
}

/** @param conversation the session, with its service and user */
export function earlierTurnsOf(conversation: string): EarlierTurns {
	const seen = processSlot<Seen>('earlierTurns', () => ({ bySession: new Map(), count: 0 }));
	return {
		digests: seen.bySession.get(conversation) ?? [],
		remember: (came) => {
			if (came.length > 0) remember(seen, conversation, came);
		},
	};
}

function remember(seen: Seen, conversation: string, came: readonly string[]): void {
	// Another execution may have added to it meanwhile.
	const known = seen.bySession.get(conversation) ?? [];
	const all = [...known, ...came.slice(repeatedOf(known, came))].slice(-maxDigests);
	seen.bySession.delete(conversation);
	seen.bySession.set(conversation, all);
	seen.count += all.length - known.length;
	for (const [oldest, digests] of seen.bySession) {
		if (seen.count <= maxDigestsOfAll) return;
		seen.bySession.delete(oldest);
		seen.count -= digests.length;
	}
}
