/** Replaces micromark's table of HTML's named characters by that of `entities`, which reads HTML. So the package has one copy. */
import { decodeHTMLStrict } from 'entities/decode';

export function decodeNamedCharacterReference(name) {
	const reference = `&${name};`;
	const character = decodeHTMLStrict(reference);
	return character !== reference && character;
}
