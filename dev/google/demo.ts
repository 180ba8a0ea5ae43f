import type { GoogleServer } from './server.ts';

/** The same ID at every start: the imported examples refer to it. */
export const demoSpreadsheet = { id: 'demo-spreadsheet-0123456789', title: 'Demo' };

export const demoTemplate = { id: 'demo-template-0123456789', title: 'Letter (template)' };

export const demoReport = { id: 'demo-report-0123456789', title: 'Weekly report' };

const demoTabs: Readonly<Record<string, string[][]>> = {
	Tasks: [
		['task', 'state'],
		['Summarize the week', 'open'],
		['Name three cities', 'open'],
	],
	Questions: [
		['task', 'state', 'document'],
		['What does a lighthouse do?', 'open'],
		['Why is the sky blue?', 'open'],
	],
	Orders: [
		['id', 'customer', 'state', 'letter'],
		['A-1', 'Ann', 'open'],
	],
	'New orders': [
		['id', 'customer', 'state'],
		['A-1', 'Ann', 'paid'],
		['A-2', 'Ben', 'open'],
	],
	Invoices: [
		['id', 'customer', 'email', 'state'],
		['I-1', 'Ann', 'ann@example.com', 'open'],
		['I-2', 'Ben', 'ben@example.com', 'sent'],
	],
	Mails: [['Received', 'From', 'Subject', 'Preview']],
	Emails: [['id', 'Received', 'From', 'Subject']],
};

type Demo = Pick<GoogleServer, 'docs' | 'gmail' | 'sheets'>;

/** Adds what the examples read, so that there is something to see. */
export function seedDemo({ docs, gmail, sheets }: Demo): void {
	const { id, title } = demoSpreadsheet;
	const tabs = Object.entries(demoTabs).map(([name, rows]) => ({ title: name, rows }));
	sheets.seed({ title, tabs, file: { id } });
	docs.seed({
		title: demoTemplate.title,
		file: { id: demoTemplate.id },
		tabs: [{ title: 'Letter' }],
	});
	docs.type(demoTemplate.id, 'Dear {{customer}},\n\nthank you for your order {{id}}.');
	docs.seed({
		title: demoReport.title,
		file: { id: demoReport.id },
		tabs: [{ title: 'Report', body: report }],
	});
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
	gmail.seed({ raw: withTwoFiles, labelIds: ['INBOX'], date: hoursAgo(30) });
}

/** An email whose attachments can be uploaded. */
const withTwoFiles = [
	'Message-ID: <figures@example.com>',
	'From: Ben <ben@example.com>',
	'To: someone@example.com',
	'Subject: Figures of the quarter',
	'MIME-Version: 1.0',
	'Content-Type: multipart/mixed; boundary=part',
	'',
	'--part',
	'Content-Type: text/plain; charset=utf-8',
	'',
	'Here they are, and a note.',
	'--part',
	'Content-Type: text/csv; name=figures.csv',
	'Content-Disposition: attachment; filename=figures.csv',
	'',
	'month,orders\r\nJuly,41\r\nAugust,47',
	'--part',
	'Content-Type: text/plain; name=note.txt',
	'Content-Disposition: attachment; filename=note.txt',
	'',
	'September is missing.',
	'--part--',
].join('\r\n');

const paragraph = (text: string, namedStyleType = 'NORMAL_TEXT') => ({
	paragraph: {
		elements: [{ textRun: { content: `${text}\n` } }],
		paragraphStyle: { namedStyleType },
	},
});

const report = [
	paragraph('Weekly report', 'TITLE'),
	paragraph('Plan', 'HEADING_1'),
	paragraph('Answer what customers ask.'),
	paragraph('Results', 'HEADING_1'),
	paragraph('Not there yet.'),
	paragraph('Next week', 'HEADING_1'),
	paragraph('The same again.'),
];
