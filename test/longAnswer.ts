import type { Answer } from './Workspace/server';

const piece = Buffer.alloc(1024 * 1024, ' ');

/** An answer that is very long, but ends some time, so that a test of who reads all of it ends too. */
export class LongAnswer {
	/** What was taken of it, about. */
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
