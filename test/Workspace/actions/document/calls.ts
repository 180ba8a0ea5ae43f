import type { Fault, GoogleServer } from '../../../../dev/google/server';
import { append } from '../../../../nodes/Workspace/actions/document/append.operation';
import { create } from '../../../../nodes/Workspace/actions/document/create.operation';
import { read } from '../../../../nodes/Workspace/actions/document/read.operation';
import { write } from '../../../../nodes/Workspace/actions/document/write.operation';
import {
	type Clients,
	type Field,
	getAllFields,
	type InferParameters,
	type Operation,
} from '../../../../nodes/Workspace/operation';
import type { RunnerItem } from '../../../../nodes/Workspace/runner/job';
import { testClients, testItem } from '../../client';
import { performOperation } from '../../performOperation';
import { StandIn } from '../../standIn';
import { type Element, paragraph, picture } from './elements';

/** A replacement of a text by a text, or of a placeholder by Markdown. */
export const asText = (find: string, replace: string) =>
	({ find, replace, format: 'text' }) as const;
export const asMarkdown = (find: string, replace: string) =>
	({ find, replace, format: 'markdown' }) as const;

type Tabs = NonNullable<Parameters<GoogleServer['docs']['seed']>[0]['tabs']>;

/** The stand-in of a test file, empty before each test, and the operations against it with every default. */
export class Calls extends StandIn {
	clients: Clients | undefined;

	constructor() {
		super();
		beforeEach(() => {
			const token = this.google.tokens.issue();
			this.clients = testClients(this.google.url, token, { maxRetryWaitMilliseconds: 3000 });
		});
	}

	/** Method, query and body of every request that came. */
	get sent() {
		return this.google.requests.map(({ method, query, body }) => ({
			...{ method, query: query.toString(), body },
		}));
	}

	get methods() {
		return this.google.requests.map(({ method }) => method?.replace('docs.documents.', ''));
	}

	/** A document with a text. */
	document(text = '', more: Tabs = []): string {
		const body = text.split('\n').map((line) => paragraph(line));
		return this.google.docs.seed({
			title: 'Report',
			tabs: [{ title: 'Tab 1', body }, ...more],
		});
	}

	/** A document with a text, and with a second tab. */
	withNotes(text: string, ...body: Element[]): string {
		return this.document(text, [{ title: 'Notes', tabId: 't.n', body }]);
	}

	/** A document of these elements, which may be items of the list `kix.b` and have the picture `kix.p`. */
	seed(...body: Element[]): string {
		const inlineObjects = { 'kix.p': picture({ title: 'chart' }) };
		const tabs = [{ title: 'Tab 1', body, lists: { 'kix.b': {} }, inlineObjects }];
		return this.google.docs.seed({ title: 'Report', tabs });
	}

	/** The text of a tab as Google stores it, by default of the first one. */
	text(documentId: string, tabId?: string): string {
		return this.google.docs.text(documentId, tabId);
	}

	/** How often the document was changed. */
	changes(documentId: string): number {
		return this.google.docs.batchesOf(documentId);
	}

	async markdown(documentId: string, tab = ''): Promise<string> {
		return (await this.read(documentId, { format: 'markdown', tab })).content ?? '';
	}

	/** The document as Markdown shows it, one line for each block. */
	async blocks(documentId: string, tab = ''): Promise<string[]> {
		return (await this.markdown(documentId, tab)).split(/\n\n+/);
	}

	/** What goes wrong at a change of a document, by default at the first one. */
	failChange(fault: Omit<Fault, 'match'>): void {
		this.google.fault({ match: 'docs.documents.batchUpdate', ...fault });
	}

	failRead(fault: Omit<Fault, 'match'>): void {
		this.google.fault({ match: 'docs.documents.get', ...fault });
	}

	/** Google refuses a change as if somebody else had changed the document before. */
	refuseAsOutdated(): void {
		const message = "The required revision ID 'x' does not match the latest revision.";
		this.failChange({ status: 400, message });
	}

	create(given: Partial<Params<typeof create>>, item = testItem()) {
		return this.run(create, { title: 'Report', ...given }, item);
	}

	read(documentId: string, given: Partial<Params<typeof read>> = {}, item = testItem()) {
		const reading: Promise<AnyRead> = this.run(read, { documentId, ...given }, item);
		return reading;
	}

	write(documentId: string, given: Partial<Params<typeof write>>, item = testItem()) {
		return this.run(write, { documentId, ...given }, item);
	}

	append(documentId: string, given: Partial<Params<typeof append>>, item = testItem()) {
		return this.run(append, { documentId, ...given }, item);
	}

	/** Performs an operation, with the defaults of an input object. @throws NodeError */
	private async run<const F extends readonly Field[], const O extends readonly Field[], R>(
		operation: Operation<F, O, R>,
		given: Partial<InferParameters<F, O>>,
		item: RunnerItem,
	): Promise<R> {
		if (this.clients === undefined) throw new Error('not started');
		const defaults = getAllFields(operation).map((field) => {
			const value = field.jsonDefault ?? field.default;
			// The form of a locator that names nothing is an object.
			return [field.name, typeof value === 'object' ? '' : value];
		});
		const params = {
			...Object.fromEntries(defaults),
			replacements: [],
			...given,
		} as InferParameters<F, O>;
		return await performOperation(operation, { params, item }, this.clients);
	}
}

/** The result of Read, in whatever format. */
interface AnyRead {
	readonly title?: string | null;
	readonly content?: string;
	readonly characterCount?: number;
	readonly tabs?: unknown;
	readonly documentId?: string | null;
}

type Params<T> = T extends Operation<infer F, infer O> ? InferParameters<F, O> : never;
