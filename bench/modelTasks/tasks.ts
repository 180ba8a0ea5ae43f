// Twelve tasks that people give to agents, what the stand-in holds for them, and how a model goes about them. The model knows only its
// tools' names and parameters and what they answered, and goes on as an answer says.
import type { GoogleServer } from '../../dev/google/server.ts';
import type { Ids } from './tools.ts';

export type Args = Readonly<Record<string, unknown>>;
/** A call of a tool with those of these parameters that it has. */
export type Ask = (tool: string, args?: Args) => Play<string>;
/** Yields what the model calls, and goes on with the tool's answer. */
export type Play<Result> = Generator<
	{ readonly tool: string; readonly args: Args },
	Result,
	string
>;

export interface Task {
	readonly name: string;
	/** @returns what the model says at the end */
	readonly play: (ask: Ask) => Play<string>;
	/** Whether it is done, by what was said and by what the stand-in holds. */
	readonly isDone: (said: string, google: GoogleServer, ids: Ids) => boolean;
}

/** Calls again as the answers say, until one has what is wanted or nothing is left. */
function* readOn(
	ask: Ask,
	tool: string,
	args: Args = {},
	isEnough: (answer: string) => boolean = () => false,
): Play<string[]> {
	const answers: string[] = [];
	for (let more: Args | undefined = {}; more;) {
		const answer: string = yield* ask(tool, { ...args, ...more });
		answers.push(answer);
		const [, label = '', value] = /call again with '([^']+)': ([\w@-]+)/.exec(answer) ?? [];
		more =
			value === undefined || isEnough(answer)
				? undefined
				: { [label.replaceAll(' ', '_')]: value };
	}
	return answers;
}

const findFirst = (pattern: RegExp, text: string) => pattern.exec(text)?.[1] ?? '';
const readValue = (key: string, answer: string) =>
	findFirst(new RegExp(String.raw`\\*"${key}\\*":\s*\\*"([^"\\]+)`), answer);

/** Finds the invoice, and reads it. */
function* readInvoice(ask: Ask): Play<Readonly<Record<'id' | 'thread' | 'mail', string>>> {
	const found = yield* ask('Search_emails', { Query: 'from:billing@acme.example invoice' });
	const [id, thread] = [readValue('id', found), readValue('threadId', found)];
	return { id, thread, mail: yield* ask('Read_email', { Message_ID: id }) };
}

const unread = 40;
const rowCount = 2000;
const amount = (at: number) => at * 1.5;
const chapters = 20;
const rule = 'A company car may be driven abroad for 21 days a year';
const notes = '# Offsite\n\n- Ann books the train\n- Ben reserves the rooms\n';

export const tasks: readonly Task[] = [
	{
		name: 'Find the invoice of a sender and say its amount',
		*play(ask) {
			const { mail } = yield* readInvoice(ask);
			return `You owe them ${findFirst(/Amount due: ([\d.,]+ EUR)/, mail)}.`;
		},
		isDone: (said) => said.includes('1,284.50 EUR'),
	},
	{
		name: 'Answer it as a draft',
		*play(ask) {
			const { id, thread } = yield* readInvoice(ask);
			const text = { Subject: 'Re: Invoice 2026-117', Body: 'Thank you. We pay on Friday.' };
			const ids = { Message_ID: id, Thread_ID: thread, To: 'billing@acme.example' };
			yield* ask('Draft_a_reply', { ...text, ...ids });
			return 'The draft is ready.';
		},
		isDone: (_, { gmail }) =>
			gmail.drafts.length === 1 && gmail.drafts[0]?.threadId !== gmail.drafts[0]?.id,
	},
	{
		name: `List the senders of ${unread} unread emails`,
		*play(ask) {
			const answers = yield* readOn(ask, 'Unread_emails');
			return [...new Set(answers.join().match(/customer\d+@example\.com/g))].join(', ');
		},
		isDone: (said) => said.split(', ').length === unread,
	},
	{
		name: "Save an email's text as a file",
		*play(ask) {
			const { mail } = yield* readInvoice(ask);
			const Content = findFirst(/"text\\*":\s*\\*"(Dear customer.*?Kind regards)/, mail);
			yield* ask('Save_a_file', { Name: 'Invoice 2026-117.txt', Content });
			return 'It is in your Drive.';
		},
		isDone: (_, { drive, files }) => {
			const file = files.listAll().find(({ name }) => name === 'Invoice 2026-117.txt');
			return file !== undefined && Number(drive.content(file.id)?.size) > 1000;
		},
	},
	{
		name: 'Add a guest to a list',
		*play(ask) {
			yield* ask('Add_a_guest', { Name: 'Cleo', Email: 'cleo@example.com' });
			return 'Cleo is on the list.';
		},
		isDone: (_, { sheets }, { guests }) =>
			String(sheets.values(guests, 'Sheet1!A4:B4')) === 'Cleo,cleo@example.com',
	},
	{
		name: `Change the status of an order among ${rowCount} rows`,
		*play(ask) {
			yield* ask('Change_an_order', { Order: 'A-1207', Status: 'paid' });
			return 'The order is marked as paid.';
		},
		isDone: (_, { sheets }, { orders }) =>
			String(sheets.values(orders, 'Sheet1!G1208')) === 'paid',
	},
	{
		name: `Sum a column of ${rowCount} rows`,
		*play(ask) {
			// A model that may choose a range looks at the header first, then takes the column.
			const [head = ''] = yield* readOn(ask, 'Read_orders', { Range: 'A1:Z2' }, () => true);
			const columns = JSON.parse(
				findFirst(/\\*"columns\\*":(\[[^\]]*\])/, head.replaceAll('\\', '')) || '[]',
			) as string[];
			if (columns.length === 0) return `${sum(head.match(/"Amount\\*":([\d.]+)/g) ?? [])}`;
			const letter = String.fromCharCode('A'.charCodeAt(0) + columns.indexOf('Amount') - 1);
			const answers = yield* readOn(ask, 'Read_orders', { Range: `${letter}:${letter}` });
			return `${sum(answers.join().match(/\[\d+,[\d.]+\]/g) ?? [])}`;
		},
		isDone: (said) => Number(said) === amount(1) * ((rowCount * (rowCount + 1)) / 2),
	},
	{
		name: `Look up an order among ${rowCount} rows`,
		*play(ask) {
			return `It goes to ${findFirst(/(Long Street \d+)/, yield* ask('Find_an_order', { Order: 'A-1500' }))}.`;
		},
		isDone: (said) => said.includes('Long Street 1500.'),
	},
	{
		name: 'Say what a long document is about',
		*play(ask) {
			const [start = ''] = yield* readOn(ask, 'Read_the_handbook', {}, () => true);
			return findFirst(/(This handbook says how [^.]+\.)/, start);
		},
		isDone: (said) => said.includes('travel, report and are paid'),
	},
	{
		name: 'Find a paragraph in it',
		*play(ask) {
			const start = yield* ask('Read_the_handbook', { Start_Character: 0 });
			const inPart = (answer: string) => /abroad for \d+ days/.test(answer);
			const chapter = Number(findFirst(/(\d+): Company cars/, start));
			const count = Number(findFirst(/characterCount\\*":(\d+)/, start));
			// Where the table of contents lets one expect it.
			const near = { Start_Character: Math.floor(((chapter - 1.2) / chapters) * count) };
			const answers = inPart(start)
				? [start]
				: yield* readOn(ask, 'Read_the_handbook', near, inPart);
			return findFirst(/(A company car [^.]+)\./, answers.at(-1) ?? '');
		},
		isDone: (said) => said === rule,
	},
	{
		name: 'Create a document from notes',
		*play(ask) {
			yield* ask('Create_a_document', {
				Title: 'Offsite',
				Name: 'Offsite',
				Content: notes,
			});
			return 'The document is there.';
		},
		isDone: (_, { docs, files }) => {
			const made = files.listAll().find(({ name }) => name === 'Offsite');
			return made !== undefined && docs.text(made.id).includes('Ben reserves the rooms');
		},
	},
	{
		name: 'Add a note to the minutes',
		*play(ask) {
			yield* ask('Add_to_the_minutes', { Content: '\nAnn opens the new office on May 4.' });
			return 'The note is there.';
		},
		isDone: (_, { docs }, { minutes }) => docs.text(minutes).includes('new office on May 4'),
	},
];

const sum = (cells: readonly string[]) =>
	cells.reduce((total, cell) => total + Number(findFirst(/[:,]([\d.]+)\]?$/, cell)), 0);

/** What every task begins with. */
export function seed(google: GoogleServer): Ids {
	google.reset();
	const scopes = ['gmail.modify', 'gmail.compose', 'spreadsheets', 'documents', 'drive'];
	google.tokens.issue({ token: 'bench', scopes });
	const text = `Dear customer,\n\n${'Thank you for your order, which we have sent with our own drivers. '.repeat(40)}\n\nAmount due: 1,284.50 EUR\n\nKind regards`;
	google.gmail.seed({
		raw: writeMail('Acme <billing@acme.example>', 'Invoice 2026-117', text),
		labelIds: ['INBOX'],
	});
	for (let at = 0; at < unread; at++)
		google.gmail.seed({
			raw: writeMail(`Customer ${at} <customer${at}@example.com>`, `Question ${at}`, text),
		});
	const header = [
		'Order',
		'Customer',
		'Street and Number',
		'City',
		'Telephone',
		'Amount',
		'Status',
		'Remarks',
	];
	const row = (at: number) => [
		...[
			`A-${at}`,
			`Customer ${at}`,
			`Long Street ${at}`,
			'Springfield',
			'+1 555 0100',
			amount(at),
		],
		...['open', 'Asked for an offer'],
	];
	const orders = [header, ...Array.from({ length: rowCount }, (_, at) => row(at + 1))];
	const guests = [
		['Name', 'Email'],
		['Ann', 'ann@example.com'],
		['Ben', 'ben@example.com'],
	];
	const book = (rows: unknown[][]) =>
		google.sheets.seed({
			title: 'Book',
			tabs: [{ title: 'Sheet1', rows, rowCount: rows.length + 1000 }],
		});
	const handbook = google.docs.seed({ title: 'Handbook' });
	google.docs.type(handbook, writeHandbook());
	const minutes = google.docs.seed({ title: 'Minutes' });
	google.docs.type(minutes, 'Minutes of our meetings');
	return { guests: book(guests), orders: book(orders), handbook, minutes };
}

/** As shops and customers send them: text, and the same as HTML. */
function writeMail(from: string, subject: string, text: string): string {
	const rows = text
		.split('. ')
		.map((line) => `<tr><td style="color:#333333;padding:4px">${line}</td></tr>`);
	const part = (type: string, content: string) =>
		`--b\r\nContent-Type: text/${type}; charset=utf-8\r\n\r\n${content}\r\n`;
	const head = `From: ${from}\r\nTo: someone@example.com\r\nSubject: ${subject}\r\nMessage-ID: <${subject.replaceAll(' ', '-')}@example.com>\r\nMIME-Version: 1.0`;
	const type = 'Content-Type: multipart/alternative; boundary=b';
	return `${head}\r\n${type}\r\n\r\n${part('plain', text)}${part('html', `<table>${rows.join('')}</table>`)}--b--\r\n`;
}

function writeHandbook(): string {
	const title = (chapter: number) =>
		`Chapter ${chapter}: ${chapter === 13 ? 'Company cars' : `Rules of kind ${chapter}`}`;
	const numbers = Array.from({ length: chapters }, (_, at) => at + 1);
	const lines = (chapter: number) =>
		Array.from(
			{ length: 530 },
			(_, at) => `Rule ${chapter}.${at}: ask the person in charge before you act.`,
		);
	const body = numbers.map((chapter) => {
		const all = lines(chapter);
		if (chapter === 13) all[250] = `${rule}.`;
		return [title(chapter), ...all].join('\n');
	});
	const start = 'This handbook says how all who work here travel, report and are paid.';
	return [start, ...numbers.map(title), ...body].join('\n');
}
