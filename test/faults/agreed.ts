import type { Cell } from './cells';

interface Agreed {
	readonly subjects: readonly string[];
	readonly request: string;
	readonly fault: string;
	/** The reason, as the page gives it. */
	readonly why: string;
}

/** Cells that differ from the rule on purpose. */
export const agreed: readonly Agreed[] = [
	{
		subjects: ['', ', with other labels'].flatMap((more) => [
			`Mail: List${more}`,
			`Mail: Search${more}`,
		]),
		request: 'users.messages.get',
		fault: '404',
		why: 'A mail that is deleted between the list and its turn is left out of the result.',
	},
	{
		subjects: ['Document: Read, as a file'],
		request: 'files.export',
		fault: 'cut JSON (done)',
		why: 'Google gives neither the size nor a checksum of an exported file, so half a file whose length is announced as such cannot be told from a whole one. A connection that breaks is recognized.',
	},
	{
		subjects: ['Agent Execute', 'Agent Execute, waiting for messages'],
		request: 'execute',
		fault: 'HTML page',
		why: 'The service is free in what it answers, so that every answer with a status of 200 to 299 counts as one of the agent. If a proxy can put a page of its own in its place, wait for the messages of the session: the page has none.',
	},
];

type Named = Pick<Cell, 'subject' | 'request' | 'fault'>;

export function isAgreed({ subject, request, fault }: Named): boolean {
	const method = request.replace(/ \(\d+\)$/, '');
	return agreed.some(
		(one) => one.subjects.includes(subject) && one.request === method && one.fault === fault,
	);
}
