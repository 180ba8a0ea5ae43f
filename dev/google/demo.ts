import type { GoogleServer } from './server.ts';

/** The same ID at every start: the imported examples refer to it. */
export const demoSpreadsheet = { id: 'demo-spreadsheet-0123456789', title: 'Demo' };

export const demoTemplate = { id: 'demo-template-0123456789', title: 'Letter (template)' };

/** Adds what the examples read, so that there is something to see. */
export function seedDemo({ docs, gmail, sheets }: Pick<GoogleServer, 'docs' | 'gmail' | 'sheets'>): void {
	sheets.seed({
		title: demoSpreadsheet.title,
		tabs: [
			{
				title: 'Tasks',
				rows: [
					['task', 'state'],
					['Summarize the week', 'open'],
					['Name three cities', 'open'],
				],
			},
			{ title: 'Answers' },
			{
				title: 'Orders',
				rows: [
					['id', 'customer', 'state'],
					['A-1', 'Ann', 'open'],
				],
			},
		],
		file: { id: demoSpreadsheet.id },
	});
	docs.seed({ title: demoTemplate.title, file: { id: demoTemplate.id }, tabs: [{ title: 'Letter' }] });
	docs.type(demoTemplate.id, 'Dear [customer],\n\nthank you for your order [id].');
	gmail.labels = { ...gmail.labels, Label_1: 'Customers' };
	const hoursAgo = (hours: number) => new Date(Date.now() - hours * 3_600_000);
	gmail.seed({
		from: '"Doe, John" <john@example.com>',
		subject: 'Übersicht for Monday',
		text: 'Hi,\n\nthe overview is nearly done. Could you look at the figures for "Q3" & "Q4"?\n\nJohn',
		date: hoursAgo(2),
	});
	gmail.seed({
		from: 'Shop <orders@shop.example>',
		subject: 'Your order 4711 has shipped',
		text: 'It arrives on Thursday.',
		labelIds: ['INBOX', 'UNREAD', 'Label_1'],
		date: hoursAgo(5),
	});
	gmail.seed({
		from: 'Ann <ann@example.com>',
		subject: 'Lunch?',
		text: 'Tomorrow at noon?',
		labelIds: ['INBOX'],
		date: hoursAgo(26),
	});
}
