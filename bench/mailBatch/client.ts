// The client of bench/mailBatch.ts, bundled, in a separate process.
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';

import type { QuotaLimits } from '../../dev/google/quotas';
import { defaultRateLimiterSettings } from '../../nodes/http/rateLimiter';
import { list } from '../../nodes/Workspace/actions/mail/list.operation';
import { createClients } from '../../nodes/Workspace/google/clients';
import { createRateLimiters } from '../../nodes/Workspace/google/transport';
import { getAllFields, type Clients, type Item } from '../../nodes/Workspace/operation';
import { readParameters } from '../../nodes/fields/params';
import type { Counted } from '../google';
import { httpSender } from '../keyed/sender';
import { median } from '../report';

const [url = '', given = '', latency = ''] = process.argv.slice(2);
const rounds = Number(given);
const mailCount = 100;
/** Milliseconds instead of 60 s, so that reaching the quota is part of the figure. */
const minute = 3000;

/** Sets limits at the stand-in, or counts its requests. */
async function ask(question: QuotaLimits | 'count'): Promise<Counted> {
	process.send?.(question);
	const [answer] = (await once(process, 'message')) as [Counted];
	return answer;
}

const send = httpSender('bench');

/** Clients of a credential about which nothing is known yet. */
function freshClients(): Clients {
	const bases = { mail: `${url}/gmail/v1`, sheets: url, docs: url, drive: url };
	return createClients(send, bases, {
		...{ maxTries: 5, maxRetryWaitMilliseconds: 120_000, timeoutMilliseconds: 30_000, signal: undefined },
		...{ account: randomUUID(), credentialKey: 'bench' },
		...{ rateLimiters: createRateLimiters({ ...defaultRateLimiterSettings, periodMilliseconds: minute }) },
		signIn: { authentication: 'oAuth2', driveAccess: 'allFiles' },
	});
}

type Way = (clients: Clients) => Promise<number>;

const parallel: Way = async (clients) => {
	const given = { maxResults: mailCount };
	const params = readParameters(getAllFields(list), given, { mode: 'fields', timezone: 'UTC' });
	const item = { index: 0, json: {}, token: 't', signal: undefined } as unknown as Item;
	const { messages } = await list.execute(clients, params as never, item);
	return messages.length;
};

const query = new URLSearchParams([
	['format', 'metadata'],
	...['Subject', 'From', 'To'].map((name): [string, string] => ['metadataHeaders', name]),
	['fields', 'id,threadId,labelIds,snippet,internalDate,payload/headers'],
]).toString();

/** Refused parts are sent again after the wait that Google recommends. */
const batches =
	(size: number, atOnce: number): Way =>
	async ({ gmail }) => {
		const { data } = await gmail.users.messages.list({ userId: 'me', maxResults: mailCount });
		let left = (data.messages ?? []).map(({ id }) => id ?? '');
		let got = 0;
		for (let tries = 0; left.length > 0; tries++) {
			const chunks = Array.from({ length: Math.ceil(left.length / size) }, (_, at) =>
				left.slice(at * size, (at + 1) * size),
			);
			const refused: string[] = [];
			for (let at = 0; at < chunks.length; at += atOnce) {
				const answers = await Promise.all(chunks.slice(at, at + atOnce).map(batch));
				for (const answer of answers) {
					got += answer.got;
					refused.push(...answer.refused);
				}
			}
			left = refused;
			if (left.length > 0) await sleep(((Math.random() + 0.5) * minute * Math.min(60, 2 ** tries)) / 60);
		}
		return got;
	};

async function batch(ids: readonly string[]): Promise<{ got: number; refused: string[] }> {
	const parts = ids.map(
		(id) =>
			`--b\r\nContent-Type: application/http\r\nContent-ID: <${id}>\r\n\r\nGET /gmail/v1/users/me/messages/${id}?${query}\r\n\r\n`,
	);
	const answer = await fetch(`${url}/batch/gmail/v1`, {
		method: 'POST',
		headers: { authorization: 'Bearer bench', 'content-type': 'multipart/mixed; boundary=b' },
		body: `${parts.join('')}--b--\r\n`,
	});
	const text = await answer.text();
	if (!answer.ok) throw new Error(text);
	const refused: string[] = [];
	let got = 0;
	for (const part of text.split('--batch_answer').slice(1, -1)) {
		const [, id = '', status = ''] = /<response-([^>]*)>[\s\S]*?HTTP\/1\.1 (\d+)/.exec(part) ?? [];
		const mail = JSON.parse(part.slice(part.lastIndexOf('\r\n\r\n{'))) as { id?: string };
		if (status === '200' && mail.id === id) got++;
		else if (status === '429' || status === '403') refused.push(id);
		else throw new Error(part);
	}
	return { got, refused };
}

const ways: Readonly<Record<string, Way>> = {
	'side by side, as shipped': parallel,
	'batches of 50, two at once': batches(50, 2),
	'batches of 20, one after another': batches(20, 1),
};
const settings: Readonly<Record<string, QuotaLimits>> = {
	'no limit': { minute },
	'10 requests at once': { minute, gmailAtOnce: 10 },
	'25 requests at once': { minute, gmailAtOnce: 25 },
	'1,000 units a minute': { minute, gmail: 1000 },
};

async function main(): Promise<void> {
	console.log(`${mailCount} mails, ${latency} ms latency, a minute of ${minute} ms, ${rounds} rounds\n`);
	let isWarm = false;
	for (const [setting, limits] of Object.entries(settings)) {
		console.log(setting);
		const figures = Object.entries(ways).map(([name, way]) => ({
			...{ name, way, times: [] as number[], cpu: [] as number[] },
			...{ requests: [] as number[], refused: [] as number[] },
		}));
		// The first round of all is a warm-up.
		for (let round = isWarm ? 1 : 0; round <= rounds; round++) {
			for (const { way, times, cpu, requests, refused, name } of figures) {
				const before = await ask(limits);
				const used = process.cpuUsage();
				const begun = performance.now();
				const got = await way(freshClients());
				const took = performance.now() - begun;
				const { user, system } = process.cpuUsage(used);
				const after = await ask('count');
				if (got !== mailCount) throw new Error(`${name}: ${got} mails`);
				if (round === 0) continue;
				times.push(took);
				cpu.push((user + system) / 1000);
				requests.push(after.requests - before.requests);
				refused.push(after.refused);
			}
		}
		isWarm = true;
		for (const { name, times, cpu, requests, refused } of figures) {
			console.log(
				`  ${name.padEnd(34)} median ${median(times).toFixed(0)} ms, ${median(cpu).toFixed(0)} ms of processor, ${median(requests)} requests, ${median(refused)} refusals`,
			);
		}
	}
}

void main().finally(() => {
	process.disconnect();
});
