import { decodedText } from './charset';

const word = /=\?([\w.:-]+)(?:\*[\w-]+)?\?([BbQq])\?([^?\s]*)\?=/g;

/** Encoded words (RFC 2047) as text. Gmail decodes headers itself; what it leaves is decoded here. */
export function decodedWords(value: string): string {
	if (!value.includes('=?')) return value;
	// Space between two encoded words is not part of the text.
	return value
		.replaceAll(/(=\?[^?\s]+\?[BbQq]\?[^?\s]*\?=)\s+(?==\?[^?\s]+\?[BbQq]\?)/g, '$1')
		.replaceAll(word, (_whole, charset: string, encoding: string, text: string) =>
			decodedText(encoding.toUpperCase() === 'B' ? Buffer.from(text, 'base64') : quoted(text), charset),
		);
}

function quoted(text: string): Buffer {
	const bytes = text
		.replaceAll('_', ' ')
		.replaceAll(/=([0-9A-Fa-f]{2})/g, (_match, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
	return Buffer.from(bytes, 'latin1');
}
