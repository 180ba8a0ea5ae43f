import type { INodeExecutionData, NodeApiError } from 'n8n-workflow';

import type { LoggedRequest } from '../../dev/google/server';
import { readClaim, findLie, type Claim } from './claim';
import type { ListedFault } from './faultList';
import { inputOf, marker, subjects, type Subject } from './samples';
import { World } from './world';

/** One fault at one request of an operation. */
export interface Cell {
	readonly subject: string;
	/** Method ID of the request with the fault, and its number among those with this ID. */
	readonly request: string;
	readonly fault: string;
	readonly isSlow: boolean;
	/** @param seconds that a request may take */
	run(seconds: number): Promise<Outcome>;
}

export interface Outcome {
	/** Empty for a success. */
	readonly message: string;
	readonly claim: Claim;
	readonly requests: number;
	/** How often the work was done; undefined for an operation that only reads. */
	readonly times: number | undefined;
	/** What is false in the claim; undefined if nothing is. */
	readonly lie: string | undefined;
}

/** What an undisturbed run does. */
interface Calm {
	/** Method ids in the order of the requests. */
	readonly methods: readonly string[];
	readonly traces: number;
	readonly output: string;
}

/** With both, what fails for good is tried five times. */
export const limits = { maxRetryWaitSeconds: 3 };
export const draw = 0.25;

/** All cells of an operation: each fault at each request that an undisturbed run makes. */
export async function googleCells(
	subject: Subject,
	faults: readonly ListedFault[],
): Promise<Cell[]> {
	const calm = await calmRun(subject);
	if (!subject.operation.mayChange && calm.traces === 0) {
		throw new Error(
			`${subject.name} leaves no trace: let test/faults/world.ts look where it leaves one`,
		);
	}
	return calm.methods.flatMap((method, at) => {
		const nth = calm.methods.slice(0, at + 1).filter((one) => one === method).length;
		const request = `${method.slice(method.indexOf('.') + 1)}${nth > 1 ? ` (${nth})` : ''}`;
		return faults.map((fault) => ({
			subject: subject.name,
			request,
			fault: fault.name,
			isSlow: fault.isSlow === true,
			run: (seconds) => outcomeOf(subject, calm, { method, nth }, fault, seconds),
		}));
	});
}

/** Each fault at the request with which a service account gets its token, before a request that must not be sent twice. */
export async function tokenCells(faults: readonly ListedFault[]): Promise<Cell[]> {
	const subject = subjects.find(({ name }) => name === 'Spreadsheet: Append');
	if (!subject) throw new Error('There is no such subject');
	const calm = await calmRun(subject);
	return faults.map((fault) => ({
		subject: tokenSubject,
		request: 'token',
		fault: fault.name,
		isSlow: fault.isSlow === true,
		run: (seconds) =>
			outcomeOf(subject, calm, { method: 'oauth.token', nth: 1 }, fault, seconds),
	}));
}

export const tokenSubject = 'Sign-in of a service account (Spreadsheet: Append)';

/** How often its marker stands at the service when a subject is done once. */
export async function calmTraces(subject: Subject): Promise<number> {
	return (await calmRun(subject)).traces;
}

async function calmRun(subject: Subject): Promise<Calm> {
	const world = await World.start();
	try {
		const before = world.traces();
		const items = await world.run({
			inputs: [inputOf(subject, world.seeds)],
			options: limits,
		});
		const methods = world.google.requests.flatMap(({ method = '' }) =>
			method.startsWith('oauth.') ? [] : [method],
		);
		return {
			methods,
			traces: world.traces() - before,
			output: told(items, world),
		};
	} finally {
		await world.close();
	}
}

async function outcomeOf(
	subject: Subject,
	calm: Calm,
	request: { readonly method: string; readonly nth: number },
	{ google, stays }: ListedFault,
	seconds: number,
): Promise<Outcome> {
	const world = await World.start();
	const signsIn = request.method === 'oauth.token';
	try {
		let seen = 0;
		const match = ({ method }: LoggedRequest) => {
			if (method?.startsWith('oauth.') && !signsIn) return false;
			if (method === request.method) seen++;
			return seen >= request.nth;
		};
		// The fault's own getters give what depends on the time.
		world.google.fault({ ...google, match, times: stays ? Infinity : 1 });
		const before = world.traces();
		const options = { ...limits, timeoutSeconds: seconds };
		const authentication = signsIn ? 'serviceAccount' : 'oAuth2';
		const inputs = [inputOf(subject, world.seeds)];
		const ended = await world.run({ inputs, options, authentication }).then(
			(items) => ({ items }),
			(error: unknown) => ({ error: error as NodeApiError }),
		);
		await world.settled();
		const requests = signsIn ? world.google.requests.length : world.requests;
		if (world.google.violations.length > 0) throw new Error(world.google.violations.join('\n'));
		const done = (world.traces() - before) / calm.traces;
		const times = subject.operation.mayChange ? undefined : done;
		if ('error' in ended) {
			const claim = readClaim(ended.error);
			const message = withoutIds(ended.error.message, world);
			return {
				message,
				claim,
				requests,
				times,
				lie: times === undefined ? undefined : findLie(claim, times),
			};
		}
		const output = told(ended.items, world);
		const lie = lieOfSuccess(times, output === calm.output);
		return { message: '', claim: 'done', requests, times, lie };
	} finally {
		await world.close();
	}
}

function lieOfSuccess(times: number | undefined, isSame: boolean): string | undefined {
	if (times !== undefined && times !== 1)
		return times > 1 ? 'done twice' : 'a success that was not done';
	return isSame ? undefined : 'the result is another one than without the fault';
}

/** Writes output items as a text in which nothing differs from run to run. */
function told(items: readonly INodeExecutionData[], world: World): string {
	return withoutIds(JSON.stringify(items.map(({ json, binary }) => ({ json, binary }))), world);
}

/** Removes what differs from run to run. */
function withoutIds(text: string, { google, seeds }: World): string {
	const known = [
		...Object.values(seeds),
		...google.files.listAll().map(({ id }) => id),
		...google.gmail.sent.map(({ id }) => id),
		...google.gmail.drafts.flatMap(({ id, draftId }) => [id, draftId]),
	];
	return known
		.reduce((rest, id) => rest.replaceAll(id, '…'), text)
		.replaceAll(google.url, 'Google')
		.replaceAll(new URL(google.url).host, 'Google')
		.replaceAll(marker, '…')
		.replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '…')
		.replaceAll(/"revisionId":"[^"]*"|"internalDate":"[^"]*"|"date":"[^"]*"/g, '…')
		.replaceAll(/\b(AJ|1)[\w-]{20,}|<[^<>@]+@[^<>]+>|ya29[\w.-]+/g, '…');
}
