import { expectNoViolations, startGoogle, type GoogleServer } from '../../dev/google/server';

let google: GoogleServer;
beforeAll(async () => {
	google = await startGoogle();
});
afterAll(async () => {
	await google.close();
});

async function batch(paths: readonly string[]): Promise<string[]> {
	const parts = paths.map(
		(path, at) => `--b\r\nContent-Type: application/http\r\nContent-ID: <${at}>\r\n\r\nGET ${path}\r\n\r\n`,
	);
	const answer = await fetch(`${google.url}/batch/gmail/v1`, {
		method: 'POST',
		headers: {
			authorization: `Bearer ${google.tokens.issue()}`,
			'content-type': 'multipart/mixed; boundary=b',
		},
		body: `${parts.join('')}--b--\r\n`,
	});
	const text = await answer.text();
	return [...text.matchAll(/<response-(\d+)>[\s\S]*?HTTP\/1\.1 (\d+)/g)].map(
		([, id, status]) => `${id} ${status}`,
	);
}

const path = (id: string) => `/gmail/v1/users/me/messages/${id}?format=metadata`;

test('the parts of a batch are answered each for itself, and cost what they cost alone', async () => {
	const ids = [1, 2, 3].map(() => google.gmail.seed({ subject: 'S' }));
	google.quotas.limits = { gmail: 60 };
	expect(await batch([...ids.slice(0, 2).map(path), path('18c3f0a1b2d4e5f6'), path(ids[2] ?? '')])).toEqual([
		'0 200',
		'1 200',
		'2 404',
		'3 403',
	]);
	google.quotas.limits = { gmailAtOnce: 2 };
	expect((await batch(ids.map(path))).filter((one) => one.endsWith('429'))).toHaveLength(1);
	expectNoViolations(google);
});
