import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';

/** Running checksum of bytes, in the form of Drive's `md5Checksum`: lower-case hex. */
export class Md5 {
	private readonly hash = createHash('md5');

	update(bytes: Buffer): void {
		this.hash.update(bytes);
	}

	digest(): string {
		return this.hash.digest('hex');
	}
}

export async function md5Of(bytes: Readable): Promise<string> {
	const hash = new Md5();
	for await (const piece of bytes as AsyncIterable<Buffer>) hash.update(piece);
	return hash.digest();
}
