import type { docs_v1 } from 'googleapis/build/src/apis/docs/v1';

import type { Item } from '../../operation';
import { readBody } from './bodyState';
import { planEnd, type Parsed } from './content';
import { carryOutContent, changeOf, onLatest, type Written } from './revisionGuard';
import { markedBefore, markRequest } from './mark';

interface Appended {
	readonly documentId: string;
	/** ID or title; empty for the first. */
	readonly tab: string;
	readonly parsed: Parsed;
	readonly newParagraph: boolean;
	/** With it, the content is appended once. */
	readonly mark: string | undefined;
	/** What was parsed. */
	readonly content: string;
}

/** Adds a content at the end of a tab. If the document changes meanwhile, it goes to its new end. */
export async function appendContent(
	docs: docs_v1.Docs,
	{ documentId, tab, parsed, newParagraph, mark, content }: Appended,
	item: Item,
): Promise<Written> {
	return await onLatest(async () => {
		const body = await readBody(docs, documentId, tab);
		const known = mark === undefined ? undefined : markedBefore(body, mark, content);
		if (known) return known;
		const index = body.endIndex - 1;
		const changeFor = (some: Parsed) => {
			const plan = planEnd(some, newParagraph, { ...body, index });
			const marking = mark === undefined ? [] : [markRequest(body, plan, mark, content)];
			return changeOf(plan, body, index, [], marking);
		};
		return await carryOutContent(docs, parsed, changeFor, item);
	}, item);
}
