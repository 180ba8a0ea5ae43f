import type { IDataObject } from 'n8n-workflow';

import type { GoogleServer } from '../../../../dev/google/server';
import type { Format } from '../../../../dev/google/sheets/cell';
import type { NodeError } from '../../../../nodes/core/errors';
import * as operations from '../../../../nodes/Workspace/actions/spreadsheet';
import {
	getAllFields,
	type Clients,
	type Operation,
	type OutputItem,
} from '../../../../nodes/Workspace/operation';
import { readParameters, type AnyParameters } from '../../../../nodes/fields/params';
import type { RunnerItem } from '../../../../nodes/Workspace/runner/job';
import { catchFailure } from '../../catchFailure';
import { testClients, testItem } from '../../client';
import { performTogether, performOperation } from '../../performOperation';
import { runNode, token } from '../../runNode';
import { StandIn } from '../../standIn';

type Name = keyof typeof operations;
type Given = Readonly<Record<string, unknown>>;
type Seed = Parameters<GoogleServer['sheets']['seed']>[0];

/** The stand-in of a test file, empty before each test, and the operations against it with every default. */
export class SheetCalls extends StandIn {
	private token = '';

	constructor() {
		super();
		beforeEach(() => {
			this.token = this.google.tokens.issue();
		});
	}

	/** Every request that came. */
	get sent() {
		return this.google.requests.map(({ method, path, query, body }) => ({
			method: method?.replace('sheets.spreadsheets.', ''),
			path: decodeURIComponent(path),
			query: Object.fromEntries(query),
			body,
		}));
	}

	get methods(): Array<string | undefined> {
		return this.sent.map(({ method }) => method);
	}

	/** The methods of the requests that change something. */
	get writes(): Array<string | undefined> {
		return this.methods.filter((method) => !/get$/i.test(method ?? ''));
	}

	/** A spreadsheet with one tab. @returns its id */
	sheet(
		rows: unknown[][] = [],
		title = 'Sheet1',
		size: { rowCount?: number; columnCount?: number } = {},
	): string {
		return this.book([{ title, rows, ...size }]);
	}

	/** A spreadsheet with one tab, whose cells are as Google takes what is typed into them. @returns its id */
	typed(...rows: unknown[][]): string {
		const id = this.sheet();
		this.google.sheets.enter(id, 'Sheet1!A1', rows);
		return id;
	}

	/** A spreadsheet. @returns its id */
	book(tabs: Seed['tabs'], more: Partial<Seed> = {}): string {
		return this.google.sheets.seed({ title: 'Book', tabs, ...more });
	}

	/** Gives cells of Sheet1 a number format. */
	format(spreadsheetId: string, cells: string, format: string): void {
		this.google.sheets.format(spreadsheetId, `Sheet1!${cells}`, format as Format);
	}

	stored(spreadsheetId: string, range = 'Sheet1'): unknown[][] {
		return this.google.sheets.values(spreadsheetId, range);
	}

	/** Cells of Sheet1 with their formulas and formats. */
	cells(spreadsheetId: string, range: string): unknown[][] {
		return this.google.sheets.cells(spreadsheetId, `Sheet1!${range}`);
	}

	/** Output items of one input item, as the runner makes them. */
	async run(name: Name, given: Given, item: RunnerItem = testItem()): Promise<OutputItem[]> {
		const operation: Operation = operations[name];
		const params = this.params(operation, given);
		const result = await performOperation(operation, { params, item }, this.clients(operation));
		return operation.toItems?.(result, params) ?? [{ json: result as IDataObject }];
	}

	/** The only output item. */
	async one(name: Name, given: Given, item?: RunnerItem): Promise<IDataObject> {
		const [first, ...others] = await this.run(name, given, item);
		expect(others).toEqual([]);
		return first?.json ?? {};
	}

	/** The rows that Read gives. */
	async rows(given: Given, item?: RunnerItem): Promise<IDataObject[]> {
		const read = await this.run('read', { output: 'rows', ...given }, item);
		return read.map(({ json }) => json);
	}

	/** How a call fails. */
	async failure(name: Name, given: Given, item?: RunnerItem): Promise<NodeError> {
		return await catchFailure(this.run(name, given, item));
	}

	/** How a call is refused before anything is sent. */
	async refusal(name: Name, given: Given, item?: RunnerItem): Promise<NodeError> {
		const failure = await this.failure(name, given, item);
		expect(this.sent).toEqual([]);
		return failure;
	}

	/** Runs the whole node with the fields of its form. @returns the JSON of its items */
	async form(
		operation: Name,
		spreadsheetId: string,
		fields: IDataObject,
		...all: IDataObject[]
	): Promise<IDataObject[]> {
		this.google.tokens.issue({ token });
		const id = { __rl: true, mode: 'id', value: spreadsheetId };
		const place = { spreadsheetId: id, tab: tabNamed('Sheet1') };
		const parameters = { resource: 'spreadsheet', operation, ...place, ...fields };
		const given = (all.length > 0 ? all : [{}]).map((json) => ({ json }));
		const put = await runNode({ url: this.google.url, parameters, items: given });
		return put.map(({ json }) => json);
	}

	/** Results or failures of input items whose fields are columns; they go out together. */
	async give(name: Name, given: Given, ...all: IDataObject[]): Promise<IDataObject[]> {
		const params = { valuesSource: 'columns', ...given };
		const members = items(...all).map((item) => ({ params, item }));
		return (await this.together(name, members)) as IDataObject[];
	}

	/** The same for items that can all be written, whose texts may be dates. @throws the first failure */
	async send(name: Name, given: Given, ...all: object[]): Promise<void> {
		const params = { valueInputOption: 'AUTO', ...given };
		for (const outcome of await this.give(name, params, ...(all as IDataObject[])))
			if (outcome instanceof Error) throw outcome;
	}

	/** The same for a new sheet with these rows, and what it then holds. Without items, the rows are in the parameters. */
	async change(name: Name, rows: unknown[][], given: object, ...all: IDataObject[]) {
		const spreadsheetId = this.sheet(rows);
		const params = { spreadsheetId, ...given };
		const told =
			all.length > 0 ? await this.give(name, params, ...all) : [await this.one(name, params)];
		return { spreadsheetId, told, stored: this.stored(spreadsheetId) };
	}

	/** The hints of an input item whose fields are columns, unless rows are given. */
	async hints(name: Name, given: Given, json: IDataObject = {}): Promise<string[]> {
		const item = testItem({ json });
		const valuesSource = 'values' in given ? 'json' : 'columns';
		await this.run(name, { valuesSource, ...given }, item);
		return item.hints;
	}

	/** Results or failures of several input items that go out together. */
	async together(
		name: Name,
		all: ReadonlyArray<{ params: Given; item: RunnerItem }>,
	): Promise<unknown[]> {
		const operation: Operation = operations[name];
		const members = all.map((one) => ({ ...one, params: this.params(operation, one.params) }));
		const { combine } = operation;
		const keys = new Set(members.map(({ params }) => combine?.getKey(params)));
		expect([...keys]).toEqual([expect.any(String)]);
		const clients = this.clients(operation);
		const outcomes = await performTogether(operation, members, clients, [...keys][0]);
		// A write by key has a result for each row.
		return outcomes.flat();
	}

	key(name: Name, given: Given): string | undefined {
		const operation: Operation = operations[name];
		return operation.combine?.getKey(this.params(operation, given));
	}

	private clients({ advice }: Operation): Clients {
		return testClients(this.google.url, this.token, {
			maxRetryWaitMilliseconds: 3000,
			operationAdvice: advice,
		});
	}

	/** What is written goes to Sheet1, unless another place is given. */
	private params(operation: Operation, given: Given): AnyParameters {
		const needsTab = operation.combine !== undefined && !('range' in given);
		const values = { ...(needsTab ? { tab: 'Sheet1' } : {}), ...given };
		const context = { mode: 'json', timezone: 'Europe/Berlin' } as const;
		return readParameters(getAllFields(operation), values, context);
	}
}

/** Reads values as they are, and dates in ISO 8601. */
export const isoForm = {
	output: 'rows',
	valueRenderOption: 'UNFORMATTED_VALUE',
	dateTimeRenderOption: 'ISO_8601',
};

/** Rows of cells. */
export const grid = (...rows: unknown[][]): unknown[][] => rows;

/** The result of a change of some cells. */
export const changed = (
	spreadsheetId: string,
	range: string,
	updatedRows: number,
	updatedColumns: number,
	updatedCells: number,
) => ({
	...{ spreadsheetId, updatedRange: `Sheet1!${range}` },
	...{ updatedRows, updatedColumns, updatedCells },
});

/** A tab as a form has it. */
export const tabNamed = (value: string) => ({ __rl: true, mode: 'name', value });

/** A value for each column, as a form has them. */
export const mapped = (value: IDataObject) => ({
	columns: { mappingMode: 'defineBelow', value, schema: [] },
});

/** The fields of the items as columns, as a form has them. */
export const mappedByName = { columns: { mappingMode: 'autoMapInputData', value: null } };

export function items(...all: IDataObject[]): RunnerItem[] {
	return all.map((json, index) => testItem({ json, index }));
}
