import type { IDataObject } from 'n8n-workflow';

import type { GoogleServer } from '../../../../dev/google/server';
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

	stored(spreadsheetId: string, range = 'Sheet1'): unknown[][] {
		return this.google.sheets.values(spreadsheetId, range);
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
		json: IDataObject = {},
	): Promise<IDataObject[]> {
		this.google.tokens.issue({ token });
		const place = { spreadsheetId: { __rl: true, mode: 'id', value: spreadsheetId } };
		const parameters = { resource: 'spreadsheet', operation, ...place, ...fields };
		const run = runNode({ url: this.google.url, parameters, items: [{ json }] });
		return (await run).map((item) => item.json);
	}

	/** Results or failures of input items whose fields are columns; they go out together. */
	async give(name: Name, given: Given, ...all: IDataObject[]): Promise<IDataObject[]> {
		const place = 'range' in given ? {} : { tab: 'Sheet1' };
		const params = { valuesSource: 'columns', ...place, ...given };
		const members = items(...all).map((item) => ({ params, item }));
		return (await this.together(name, members)) as IDataObject[];
	}

	/** Results or failures of several input items that go out together. */
	async together(
		name: Name,
		all: ReadonlyArray<{ params: Given; item: RunnerItem }>,
	): Promise<unknown[]> {
		const operation: Operation = operations[name];
		const members = all.map(({ params, item }) => ({
			params: this.params(operation, params),
			item,
		}));
		const { combine } = operation;
		const keys = new Set(members.map(({ params }) => combine?.getKey(params)));
		expect([...keys]).toEqual([expect.any(String)]);
		const outcomes = await performTogether(
			operation,
			members,
			this.clients(operation),
			[...keys][0],
		);
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

	private params(operation: Operation, given: Given): AnyParameters {
		return readParameters(getAllFields(operation), given, {
			mode: 'json',
			timezone: 'Europe/Berlin',
		});
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

export function items(...all: IDataObject[]): RunnerItem[] {
	return all.map((json, index) => testItem({ json, index }));
}
