import { Readable } from 'node:stream';

import { refusal } from '../../../items/failure';
import { bytesOfBase64 } from '../../base64';
import { named } from '../../fieldNames';
import type { Item, Source } from '../../operation';

export interface ContentParams {
	readonly contentSource: 'binary' | 'base64' | 'filePath';
	readonly binaryPropertyName: string;
	/** Base64 text or a path. */
	readonly content: string;
}

/**
 * The bytes to upload.
 * @throws Failure 400 that says what is missing
 */
export async function sourceOf(params: ContentParams, item: Item): Promise<Source> {
	const { contentSource, binaryPropertyName, content } = params;
	if (contentSource === 'base64') return base64Source(content, item);
	if (contentSource === 'binary') return await item.binary(binaryPropertyName || 'data');
	if (content.trim() !== '') return await item.file(content);
	throw refusal(`${named('content')} is empty`, 'Give the path of the file to upload.');
}

function base64Source(content: string, item: Item): Source {
	if (/^\s*data:[^,]*,/.test(content)) {
		throw refusal(
			`${named('content')} is a data URL, not base64 text`,
			`Give only the part after the comma, and the media type in ${named('mimeType')}.`,
		);
	}
	const bytes = bytesOfBase64(content);
	if (bytes === undefined) {
		throw refusal(
			`${named('content')} is not base64 text`,
			`Give the bytes as base64, for instance {{ $json.text.base64Encode() }}, or use a binary field as ${named('contentSource')}.`,
		);
	}
	if (bytes.length === 0) item.hint(`${named('content')} was empty, so that an empty file was uploaded.`);
	return { size: bytes.length, open: () => Promise.resolve(Readable.from([bytes])) };
}
