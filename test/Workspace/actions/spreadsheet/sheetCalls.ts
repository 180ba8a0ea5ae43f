import type { IDataObject } from 'n8n-workflow';

import * as operations from '../../../../nodes/Workspace/actions/spreadsheet';
import {
	getAllFields,
	type Clients,
	type Operation,
	type OutputItem,
} from '../../../../nodes/Workspace/operation';
import { readParameters, type AnyParameters } from '../../../../nodes/fields/params';
import type { RunnerItem } from '../../../../nodes/Workspace/runner/job';
import { testClients, testItem } from '../../client';
import { performTogether, performOperation } from '../../performOperation';
import { StandIn } from '../../standIn';

type Name = keyof typeof operations;
type Given = Readonly<Record<string, unknown>>;

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
		return this.google.sheets.seed({ title: 'Book', tabs: [{ title, rows, ...size }] });
	}

	stored(spreadsheetId: string, range: string): unknown[][] {
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

export function items(...all: IDataObject[]): RunnerItem[] {
	return all.map((json, index) => testItem({ json, index }));
}
