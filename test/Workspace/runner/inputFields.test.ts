// The option Include Input Fields: what an item had is still there after the node.
import type { IDataObject, INode } from 'n8n-workflow';

import type { GoogleServer } from '../../../dev/google/server';
import { createNodeTool, runNode } from '../runNode';
import { useGoogle } from '../standIn';

let google: GoogleServer;
useGoogle((server) => (google = server));

const input: IDataObject = {
	customer: 'Ann',
	title: 'of the input',
	rowNumber: 7,
	error: 'of an earlier node',
};
const run = async (
	parameters: IDataObject,
	json: IDataObject[] = [input],
	node: Partial<INode> = {},
) =>
	(
		await runNode({
			url: google.url,
			parameters,
			items: json.map((one) => ({ json: one })),
			node,
		})
	).map((item) => item.json);

const on = { options: { includeInputFields: true } };
const create = { resource: 'document', operation: 'create', title: 'Letter', content: 'Dear Ann' };

test('the fields of the input come first, those of the result win, and the error of an earlier node is left out', async () => {
	const [without] = await run(create);
	const [item] = await run({ ...create, ...on });
	expect(without).not.toHaveProperty('customer');
	expect(item).toMatchObject({
		customer: 'Ann',
		rowNumber: 7,
		title: 'Letter',
		documentId: expect.any(String) as string,
	});
	expect(Object.keys(item ?? {}).slice(0, 3)).toEqual(['customer', 'title', 'rowNumber']);
	expect(item).not.toHaveProperty('error');
});

test('each of several output items has them', async () => {
	const [made] = await run({
		resource: 'spreadsheet',
		operation: 'create',
		title: 'T',
		options: { values: '[["Name"],["A"],["B"]]' },
	});
	const rows = await run({
		resource: 'spreadsheet',
		operation: 'read',
		spreadsheetId: { __rl: true, mode: 'id', value: made?.['spreadsheetId'] },
		...on,
	});
	expect(rows).toMatchObject([
		{ customer: 'Ann', Name: 'A', rowNumber: 2 },
		{ customer: 'Ann', Name: 'B', rowNumber: 3 },
	]);
});

test('an input object says it for itself, and false is what it says without the key', async () => {
	const json = { inputMode: 'json', inputObject: '={{ $json }}' };
	const object = { operation: 'create', resource: 'document', title: 'T' };
	const [kept, left] = await run(json, [{ ...object, includeInputFields: true }, object]);
	expect(kept).toMatchObject({ operation: 'create', documentId: expect.any(String) as string });
	expect(left).not.toHaveProperty('operation');
});

describe('an item that failed', () => {
	const failing = { ...create, title: '={{ $json.missing }}', ...on };

	test('has them beside its error with Continue', async () => {
		const [item] = await run(failing, [input], { onError: 'continueRegularOutput' });
		expect(item).toMatchObject({ customer: 'Ann', rowNumber: 7, error: { code: 400 } });
		google.fault({ match: 'docs.documents.create', status: 403, times: 99 });
		const [refused] = await run({ ...create, ...on }, [input], {
			onError: 'continueRegularOutput',
		});
		expect(refused).toMatchObject({ customer: 'Ann', error: { code: 403 } });
	});

	test('has its error alone where n8n looks for that to send it to the error output, with fields that it adds', async () => {
		const [item] = await run(failing, [input], { onError: 'continueErrorOutput' });
		expect(Object.keys(item ?? {})).toEqual(['error']);
	});
});

test('a tool does not repeat to the model what the model gave', async () => {
	const tool = createNodeTool({
		url: google.url,
		node: { type: 'test.workspaceTool' },
		parameters: { ...create, ...on },
		items: [{ json: input }],
	});
	expect(await tool({})).not.toContain('Ann"');
});
