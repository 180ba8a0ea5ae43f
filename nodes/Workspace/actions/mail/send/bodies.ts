import { refusal } from '../../../../core/failure';
import { named } from '../../../../fields/naming';

/** The forms in which a body is sent. A mail program shows the best one that it supports. */
export interface Bodies {
	readonly text: string;
	readonly html?: string;
}

/**
 * HTML is never sent without a plain text. The plain text of a Markdown body is the Markdown itself.
 * @throws Failure 400 for a body that cannot be read
 */
export async function bodiesOf(
	body: string,
	format: 'text' | 'html' | 'markdown',
	signal: AbortSignal | undefined,
): Promise<Bodies> {
	if (format === 'text') return { text: body };
	const { runInWorker } = await import('../../../../untrusted/runInWorker');
	const isMarkdown = format === 'markdown';
	const answer = await runInWorker(isMarkdown ? 'htmlOfMarkdown' : 'textOfHtml', body, signal);
	if ('result' in answer)
		return isMarkdown ? { text: body, html: answer.result } : { text: answer.result, html: body };
	throw refusal(
		`${named('body')} cannot be read as ${isMarkdown ? 'Markdown' : 'HTML'}: ${answer.trouble}`,
		`Nothing was sent. Shorten or simplify it, or set ${named('bodyFormat')} to Text.`,
	);
}
