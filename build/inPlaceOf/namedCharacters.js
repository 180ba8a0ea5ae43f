/** The names of characters that HTML knows stand in the package once, in the tables with which HTML is read. */
import { decodeHTMLStrict } from 'entities/decode';

export function decodeNamedCharacterReference(name) {
	const reference = `&${name};`;
	const character = decodeHTMLStrict(reference);
	return character !== reference && character;
}
