import { isUtf8 } from 'node:buffer';
import { TextDecoder } from 'node:util';

/** Charsets of one byte per character, whose texts with other letters are hardly ever valid UTF-8 by chance. */
const oneByte =
	/^(?:(?:us-)?ascii|ansi|iso[-_]?8859|latin|windows-?125|cp125|x-cp125|x-mac|macintosh|utf-?8)/i;

/**
 * Text of any charset; nothing is ever thrown away for a name that nobody knows.
 * @param charset as the mail names it; '' when it does not
 */
export function decodedText(bytes: Buffer, charset: string): string {
	// Mails often name a charset that is not theirs, and Gmail may have changed the text to UTF-8 already.
	if ((charset === '' || oneByte.test(charset)) && isUtf8(bytes))
		return bytes.toString('utf8').replace(/^\ufeff/, '');
	return decoder(charset).decode(bytes);
}

function decoder(charset: string): TextDecoder {
	try {
		return new TextDecoder(/^utf-?8$/i.test(charset) || charset === '' ? 'windows-1252' : charset);
	} catch {
		// No such charset: the one that most mails without a name are in.
		return new TextDecoder('windows-1252');
	}
}
