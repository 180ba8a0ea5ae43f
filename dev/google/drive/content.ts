import { createHash } from 'node:crypto';

/** Bytes of a file as Drive knows them. */
export interface Content {
	/** Bytes. */
	readonly size: number;
	/** Lower-case hex. */
	readonly md5: string;
	/** Absent if the stand-in does not keep content. */
	readonly data: Buffer | undefined;
}

/** Accepts bytes as they arrive. Without `keep`, only their count and checksum stay in memory. */
export class ContentSink {
	private readonly hash = createHash('md5');
	private readonly chunks: Buffer[] | undefined;
	/** Bytes received so far. */
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

export function contentOf(data: Buffer, keep: boolean): Content {
	const sink = new ContentSink(keep);
	sink.take(data);
	return sink.finish();
}
