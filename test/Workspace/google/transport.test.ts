import { testClients } from '../client';
import { json, scriptedServer, type Answer, type ScriptedServer } from '../server';

let server: ScriptedServer;

async function serve(...script: Answer[]) {
	server = await scriptedServer(...script);
	return testClients(server.url, 'token-1', { maxRetryWaitMilliseconds: 2000 });
}

afterEach(() => server.close());

describe('a request', () => {
	it('goes to the base of its API with an encoded path, repeated keys and the token', async () => {
		const clients = await serve(json({ messages: [] }));
		await clients.gmail.users.messages.list({ userId: 'me', labelIds: ['INBOX', 'UNREAD'], q: 'a b+c' });
		const [request] = server.received;
		expect(request).toMatchObject({
			method: 'GET',
			url: '/gmail/v1/users/me/messages?labelIds=INBOX&labelIds=UNREAD&q=a%20b%2Bc',
		});
		expect(request?.headers).toMatchObject({ authorization: 'Bearer token-1' });
	});

	it('carries JSON with its content type and length', async () => {
		const clients = await serve(json({ updatedRows: 1 }));
		const { data } = await clients.sheets.spreadsheets.values.update({
			spreadsheetId: 'abc',
			range: "'a/b #1 50%'!A1",
			valueInputOption: 'RAW',
			requestBody: { values: [['ü', 1]] },
		});
		expect(data).toEqual({ updatedRows: 1 });
		const [request] = server.received;
		expect(request).toMatchObject({
			method: 'PUT',
			url: '/v4/spreadsheets/abc/values/%27a%2Fb%20%231%2050%25%27%21A1?valueInputOption=RAW',
		});
		expect(request?.headers).toMatchObject({ 'content-type': 'application/json', 'content-length': '21' });
		expect(JSON.parse(String(request?.body))).toEqual({ values: [['ü', 1]] });
	});
});
