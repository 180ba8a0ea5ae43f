import { createHash } from 'node:crypto';

/** What Drive knows about the bytes of a file. */
export interface Content {
	/** Bytes. */
	readonly size: number;
	/** Lower-case hex. */
	readonly md5: string;
	/** Absent if the stand-in does not keep content. */
	readonly data: Buffer | undefined;
}

/** Receives the bytes of a file. Without `keep`, only their number and checksum stay in memory. */
export class ContentSink {
	private readonly hash = createHash('md5');
	private readonly chunks: Buffer[] | undefined;
	/** How many bytes have arrived. */
	size = 0;

	constructor(keep: boolean) {
		this.chunks = keep ? [] : undefined;
	}

	take(chunk: Buffer): void {
		this.hash.update(chunk);
		this.chunks?.push(Buffer.from(chunk));
		this.size += chunk.length;
	}

	finish(): Content {
		const data = this.chunks && Buffer.concat(this.chunks);
		return { size: this.size, md5: this.hash.digest('hex'), data };
	}
}

export function buildContent(data: Buffer, keep: boolean): Content {
	const sink = new ContentSink(keep);
	sink.take(data);
	return sink.finish();
}
