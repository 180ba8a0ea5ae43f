import { Readable } from 'node:stream';

import { refusal } from '../../../core/failure';
import { bytesOfBase64 } from '../../base64';
import { named } from '../../../fields/naming';
import type { Item, Source } from '../../operation';

export interface ContentParams {
	readonly contentSource: 'binary' | 'base64' | 'filePath' | 'text';
	readonly binaryPropertyName: string;
	/** The text itself, base64 text or a path. */
	readonly content: string;
}

/**
 * The bytes to upload.
 * @throws Failure 400 that says what is missing
 */
export async function sourceOf(params: ContentParams, item: Item): Promise<Source> {
	const { contentSource, binaryPropertyName, content } = params;
	if (contentSource === 'text') return bytesSource(Buffer.from(content), item, 'text/plain; charset=utf-8');
	if (contentSource === 'base64') return base64Source(content, item);
	if (contentSource === 'binary') return await item.binary(binaryPropertyName || 'data');
	if (content.trim() !== '') return await item.file(content);
	throw refusal(`${named('content')} is empty`, 'Enter the path of the file to upload.');
}

function base64Source(content: string, item: Item): Source {
	if (/^\s*data:[^,]*,/.test(content)) {
		throw refusal(
			`${named('content')} is a data URL, not base64 text`,
			`Enter only the part after the comma, and the MIME type in ${named('mimeType')}.`,
		);
	}
	const bytes = bytesOfBase64(content);
	if (bytes === undefined) {
		throw refusal(
			`${named('content')} is not base64 text`,
			`To upload the text unchanged, choose Text in ${named('contentSource')}. Base64 text must not contain spaces or any other text.`,
		);
	}
	return bytesSource(bytes, item);
}

function bytesSource(bytes: Buffer, item: Item, mimeType?: string): Source {
	if (bytes.length === 0) item.hint(`${named('content')} was empty, so an empty file was uploaded.`);
	return { mimeType, size: bytes.length, open: () => Promise.resolve(Readable.from([bytes])) };
}
