import { convert } from 'html-to-text';

/** An HTML mail as plain text: links in brackets after their text, no images, lines as long as they are. */
export function textOfHtml(html: string): string {
	return convert(html, {
		wordwrap: false,
		selectors: [
			{ selector: 'a', options: { hideLinkHrefIfSameAsText: true, ignoreHref: false } },
			{ selector: 'img', format: 'skip' },
			{ selector: 'table', format: 'dataTable', options: { uppercaseHeaderCells: false } },
			...['h1', 'h2', 'h3', 'h4', 'h5', 'h6'].map((selector) => ({
				selector,
				options: { uppercase: false },
			})),
		],
	}).trim();
}
