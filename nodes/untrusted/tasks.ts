import type { docs_v1 } from 'googleapis/build/src/apis/docs/v1';

import { textOfHtml } from './html/textOfHtml';
import { contentOfMarkdown } from './markdown/contentOfMarkdown';
import { htmlOfMarkdown } from './markdown/htmlOfMarkdown';
import { markdownOfTabs } from './markdown/markdownOfTabs';
import { proportionate } from './markdown/proportion';

/** The thread's tasks: pure functions from text to text. */
export const tasks = {
	textOfHtml,
	htmlOfMarkdown: (markdown: string) => htmlOfMarkdown(proportionate(markdown)),
	/** Returns a `Content` as JSON. */
	contentOfMarkdown: (markdown: string) => JSON.stringify(contentOfMarkdown(proportionate(markdown))),
	/** Takes the tabs of a document as JSON. */
	markdownOfTabs: (json: string) => markdownOfTabs(JSON.parse(json) as docs_v1.Schema$DocumentTab[]),
} satisfies Record<string, (text: string) => string>;

export type TaskName = keyof typeof tasks;
