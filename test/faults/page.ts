import type { Cell, Outcome } from './cells';

export interface Ended {
	readonly cell: Cell;
	readonly outcome: Outcome;
}

const head = [
	'| Request that is hit | Fault | What the user sees | It says | Requests | Done |',
	'| --- | --- | --- | --- | --- | --- |',
];
const between = '; ';

/** A table for each operation; faults that come to the same stand in one line. */
export function tables(all: readonly Ended[]): string {
	const subjects = grouped(all, ({ cell }) => cell.subject);
	return [...subjects]
		.flatMap(([subject, ended]) => {
			const rows = grouped(ended, ({ cell, outcome }) =>
				JSON.stringify([cell.request, told(outcome)]),
			);
			const table = [...head, ...[...rows.values()].map(row)].join('\n');
			// Padded, the page would be three times as large.
			return [`### ${subject}`, '<!-- prettier-ignore -->', table];
		})
		.join('\n\n');
}

function grouped(all: readonly Ended[], by: (one: Ended) => string): ReadonlyMap<string, Ended[]> {
	const groups = new Map<string, Ended[]>();
	for (const one of all) groups.set(by(one), [...(groups.get(by(one)) ?? []), one]);
	return groups;
}

function row(alike: readonly Ended[]): string {
	const [first] = alike;
	if (!first) return '';
	const { cell, outcome } = first;
	const faults = alike.map((one) => one.cell.fault).join(between);
	return `| ${[`\`${cell.request}\``, faults, ...told(outcome)].join(' | ')} |`;
}

/** The cells of a line behind the fault. */
export function told({ message, claim, requests, times }: Outcome): string[] {
	const printed = message
		.replaceAll('|', String.raw`\|`)
		.replaceAll('\n', ' ')
		// A revision is another one in each run.
		.replaceAll(/'AJ[0-9a-f]+'/g, "'AJ…'");
	const sees = printed === '' ? 'the result' : printed;
	return [sees, times === undefined ? '' : claim, String(requests), doneText(times)];
}

function doneText(times: number | undefined): string {
	if (times === undefined) return '';
	return times > 0 && times < 1 ? 'partly' : String(times);
}

/** What a page says of each cell, by `nameOf`. */
export function toldByPage(page: string): ReadonlyMap<string, readonly string[]> {
	const known = new Map<string, string[]>();
	let subject = '';
	for (const line of page.split('\n')) {
		if (line.startsWith('### ')) subject = line.slice(4);
		if (!line.startsWith('| `')) continue;
		const [request = '', faults = '', ...rest] = line
			.slice(1, line.lastIndexOf('|'))
			.split(/(?<!\\)\|/)
			.map((text) => text.trim());
		for (const fault of faults.split(between))
			known.set(nameOf({ subject, request: request.replaceAll('`', ''), fault }), rest);
	}
	return known;
}

type Named = Pick<Cell, 'subject' | 'request' | 'fault'>;

export const nameOf = ({ subject, request, fault }: Named): string =>
	`${subject}, ${request}: ${fault}`;
