import type { GoogleServer } from './server.ts';

/** Adds a few emails for the examples, so that there is something to see. */
export function seedDemo({ gmail }: Pick<GoogleServer, 'gmail'>): void {
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
