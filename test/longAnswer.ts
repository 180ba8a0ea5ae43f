import type { Answer } from './Workspace/scriptedServer';

const piece = Buffer.alloc(1024 * 1024, ' ');

/** An answer that is very long but finite, so that a test ends even if the product reads all of it. */
export class LongAnswer {
	/** About how much of it was read. */
	sentMebibytes = 0;

	readonly answer: Answer = (response) => {
		let left = 200;
		const more = () => {
			while (left-- > 0 && !response.destroyed) {
				this.sentMebibytes++;
				if (!response.write(piece)) return;
			}
			response.end();
		};
		response.on('drain', more).setHeader('Content-Type', 'application/json');
		more();
	};
}
