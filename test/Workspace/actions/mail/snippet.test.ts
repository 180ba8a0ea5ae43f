import { snippetText } from '../../../../nodes/untrusted/mail/snippet';
import { expectLinear } from '../../../growth';

test.each([
	['Fish &amp; chips \u200c \u00ad\u034f', 'Fish & chips'],
	['\u200b \u2060a\u00adb\ufeff', 'a\u00adb'],
	[' \u200d ', ''],
	['', ''],
])('%j is %j', (snippet, text) => {
	expect(snippetText(snippet)).toBe(text);
});

test.each([' ', ' x', '&amp; ', '&'])('grows no faster than %j does', (unit) => {
	expectLinear(unit, (text) => `x${text}x`, snippetText);
});
