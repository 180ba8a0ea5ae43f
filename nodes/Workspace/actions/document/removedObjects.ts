import { type Elements, getParagraphs } from '../../../untrusted/document/elements';
import type { Item } from '../../operation';

/** What a paragraph may hold beside text that new content does not bring back, by Google's name. */
const objectNames = {
	footnoteReference: 'footnote',
	inlineObjectElement: 'picture',
	pageBreak: 'page break',
	columnBreak: 'column break',
	equation: 'equation',
} as const;

/** Adds a hint that names what a replacement of these elements removed beside text. */
export function mentionRemovedObjects(elements: Elements, item: Item): void {
	const counts = new Map<string, number>();
	for (const name of listObjects(elements)) counts.set(name, (counts.get(name) ?? 0) + 1);
	if (counts.size === 0) return;
	const parts = Array.from(
		counts,
		([name, count]) => `${count} ${name}${count === 1 ? '' : 's'}`,
	);
	item.addHint(
		`The replaced content also had ${parts.join(', ')}. To get them back, use the version history of the document.`,
	);
}

function listObjects(elements: Elements): string[] {
	const names: string[] = [];
	// The break before the first paragraph of a tab has no index, and stays.
	for (const { sectionBreak, startIndex } of elements)
		if (sectionBreak && startIndex) names.push('section break');
	for (const { elements: paragraphElements = [], positionedObjectIds } of getParagraphs(
		elements,
	)) {
		for (const element of paragraphElements)
			for (const [key, name] of Object.entries(objectNames))
				if (key in element) names.push(name);
		names.push(...(positionedObjectIds ?? []).map(() => 'picture'));
	}
	return names;
}
