import type { docs_v1 } from 'googleapis/build/src/apis/docs/v1';

import { hashOf, usedBefore } from '../../idempotency';
import type { BodyState } from './bodyState';
import type { Written } from './revisionGuard';
import type { Plan } from './plan';

/**
 * A named range over the appended text records its key. It is added and removed with the text, in the same atomic change, and its
 * name holds all that the result needs: the mark, the beginning of the content's hash, the number of characters.
 */
const namePattern = /^n8n-agent-workspace\/([0-9a-f]{64})\/([0-9a-f]{16})\/(\d{1,9})$/;

function contentMark(content: string): string {
	return hashOf([content]).slice(0, 16);
}

export function markRequest(
	{ endIndex, tabId }: BodyState,
	{ units, characterCount }: Plan,
	mark: string,
	content: string,
): docs_v1.Schema$Request {
	const startIndex = endIndex - 1;
	const range = { startIndex, endIndex: startIndex + units, tabId };
	const name = `n8n-agent-workspace/${mark}/${contentMark(content)}/${characterCount}`;
	return { createNamedRange: { name, range } };
}

/** The result of an earlier append with the key. @throws Failure 409 if it had other content */
export function markedBefore(
	{ documentId, revisionId, rangeNames }: BodyState,
	mark: string,
	content: string,
): (Written & { readonly repeated: true }) | undefined {
	for (const name of rangeNames) {
		const [, known, hash, count] = namePattern.exec(name) ?? [];
		if (known !== mark) continue;
		if (hash !== contentMark(content)) throw usedBefore(`text in the document ${documentId}`);
		return { documentId, characterCount: Number(count), revisionId, repeated: true };
	}
	return undefined;
}
