import type { docs_v1 } from 'googleapis/build/src/apis/docs/v1';

import { textOfTabs } from './document/plainText';
import { textOfHtml } from './html/textOfHtml';
import { rawPart } from './mail/rawPart';
import { readMail } from './mail/readMail';
import { contentOfMarkdown } from './markdown/contentOfMarkdown';
import { htmlOfMarkdown } from './markdown/htmlOfMarkdown';
import { markdownOfTabs } from './markdown/markdownOfTabs';
import { proportionate } from './markdown/parseMarkdown';

/** The thread's tasks: pure functions of texts and plain objects. */
export const tasks = {
	textOfHtml,
	htmlOfMarkdown: (markdown: string) => htmlOfMarkdown(proportionate(markdown)),
	/** Returns a `Content` as JSON. */
	contentOfMarkdown: (markdown: string) => JSON.stringify(contentOfMarkdown(proportionate(markdown))),
	/** These take the tabs of a document as JSON. */
	textOfTabs: (json: string) => textOfTabs(JSON.parse(json) as docs_v1.Schema$DocumentTab[]),
	markdownOfTabs: (json: string) => markdownOfTabs(JSON.parse(json) as docs_v1.Schema$DocumentTab[]),
	readMail,
	rawPart,
} satisfies Record<string, (input: never) => unknown>;

type Tasks = typeof tasks;
export type TaskName = keyof Tasks;
export type Input<T extends TaskName> = Parameters<Tasks[T]>[0];
export type Result<T extends TaskName> = ReturnType<Tasks[T]>;
