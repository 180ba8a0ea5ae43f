import type { Readable } from 'node:stream';

/** Bytes of an input: a binary field, base64 text or a file. */
export interface Source {
	readonly fileName?: string;
	readonly mimeType?: string;
	/** Bytes. */
	readonly size: number;
	/** Opens the bytes again at each call. */
	open(): Promise<Readable>;
}
