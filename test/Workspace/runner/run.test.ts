import type { IDataObject } from 'n8n-workflow';

import { failureOf } from '../../executeContext';

import { runNode, token } from '../runNode';
import { googleError, json, scriptedServer, type Answer, type ScriptedServer } from '../server';

let server: ScriptedServer;

async function serve(...script: Answer[]) {
	server = await scriptedServer(...script);
}

afterEach(() => server.close());

const locator = (value: string) => ({ __rl: true, mode: 'id', value });
const readForm = { resource: 'document', operation: 'read', documentId: locator('={{ $json.id }}') };
const idItems = (...ids: string[]) => ids.map((id) => ({ json: { id } }));

function documentOf(documentId: string): IDataObject {
	return {
		documentId,
		title: `Title of ${documentId}`,
		revisionId: 'r1',
		tabs: [
			{
				tabProperties: { tabId: 't.0', title: 'Tab 1' },
				documentTab: {
					body: {
						content: [
							{ endIndex: 1, sectionBreak: {} },
							{
								startIndex: 1,
								endIndex: 4,
								paragraph: { elements: [{ startIndex: 1, endIndex: 4, textRun: { content: 'hi\n' } }] },
							},
						],
					},
				},
			},
		],
	};
}

/** Answers with the document that was asked for. */
const echo: Answer = (response, request) => {
	const id = /documents\/([^?]+)/.exec(request.url)?.[1] ?? '';
	json(documentOf(id))(response, request);
};

describe('the form', () => {
	it('gives one item per input item, in order and paired', async () => {
		await serve(echo);
		const items = await runNode({ url: server.url, parameters: readForm, items: idItems('a1', 'b2', 'c3') });
		expect(items).toEqual(
			['a1', 'b2', 'c3'].map((documentId, item) => ({
				json: expect.objectContaining({ documentId, content: 'hi' }) as unknown,
				pairedItem: { item },
			})),
		);
		expect(server.received[0]?.headers.authorization).toBe(`Bearer ${token}`);
	});

	it('says which item failed, what happened and what to do', async () => {
		await serve(googleError(404, 'Requested entity was not found.', { status: 'NOT_FOUND' }));
		const error = await failureOf(
			runNode({ url: server.url, parameters: readForm, items: idItems('1missingDocument') }),
		);
		expect(error).toMatchObject({
			name: 'NodeApiError',
			message: 'Google Docs: Requested entity was not found.',
			httpCode: '404',
			context: { itemIndex: 0 },
		});
		expect(error.description).toContain('1missingDocument');
		expect(error.description).toContain('shared with the account of the credential');
	});
});

describe('Continue on Fail', () => {
	it('puts an error item in the place of the failed one and goes on', async () => {
		await serve(echo);
		const items = await runNode({
			url: server.url,
			parameters: readForm,
			items: idItems('a1', 'b/2', 'c3'),
			node: { onError: 'continueErrorOutput' },
		});
		expect(items[1]).toEqual({
			json: { error: { code: 400, message: "'Document' is not an ID: b/2", status: 'INVALID_ARGUMENT' } },
			pairedItem: { item: 1 },
		});
		expect(items.map(({ pairedItem }) => pairedItem)).toEqual([{ item: 0 }, { item: 1 }, { item: 2 }]);
		expect(server.received).toHaveLength(2);
	});
});

describe('an input object', () => {
	const inJson = (inputObject: unknown) => ({ inputMode: 'json', inputObject: inputObject as IDataObject });

	it('names its operation; the resource follows from the id', async () => {
		await serve(echo);
		const inputObject = '={{ { operation: "read", documentId: $json.id } }}';
		const items = await runNode({
			url: server.url,
			parameters: inJson(inputObject),
			items: idItems('a1'),
		});
		expect(items).toEqual([
			{ json: expect.objectContaining({ documentId: 'a1' }) as unknown, pairedItem: { item: 0 } },
		]);
	});

	it('is refused before any request when a key is unknown', async () => {
		await serve(echo);
		const inputObject = JSON.stringify({ operation: 'read', documentId: 'a1', tabs: 'x' });
		const error = await failureOf(runNode({ url: server.url, parameters: inJson(inputObject) }));
		expect(error.message).toBe("Unknown key 'tabs' for 'read' of document");
		expect(error.description).toContain('tab,');
		expect(server.received).toHaveLength(0);
	});

	it('from a webhook does only what the node allows', async () => {
		await serve(echo);
		const parameters = {
			...inJson('={{ $json.body }}'),
			allowedOperations: ['spreadsheet.append'],
		};
		const body = { operation: 'search', query: 'password', allowedOperations: ['mail.search'] };
		const error = await failureOf(runNode({ url: server.url, parameters, items: [{ json: { body } }] }));
		expect([error.httpCode, error.message]).toEqual(['400', "'search' of mail is not allowed here"]);
		expect(error.description).toContain('Spreadsheet: Append');
		expect(server.received).toHaveLength(0);
	});
});
