import type { INodeExecutionData } from 'n8n-workflow';

import type { LoggedRequest } from '../../dev/google/server';
import { type Claim, findLie, lieOfSuccess, readClaim, toEnd } from './claim';
import type { ListedFault } from './faultList';
import { inputOf, marker, subjects, type Subject } from './samples';
import { isCall, World } from './world';

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

export const limits = { maxRetryWaitSeconds: 10 };

/** All cells of an operation: each fault at each request that an undisturbed run makes. */
export async function googleCells(
	subject: Subject,
	faults: readonly ListedFault[],
): Promise<Cell[]> {
	const calm = await calmRun(subject);
	const { name, operation } = subject;
	if (!operation.mayChange && calm.traces === 0)
		throw new Error(
			`${name} leaves no trace: let test/faults/world.ts look where it leaves one`,
		);
	return calm.methods.flatMap((method, at) => {
		const nth = calm.methods.slice(0, at + 1).filter((one) => one === method).length;
		const request = `${method.slice(method.indexOf('.') + 1)}${nth > 1 ? ` (${nth})` : ''}`;
		const play: Play = (fault, seconds) =>
			outcomeOf({ subject, calm, method, nth }, fault, seconds);
		return faults.map((fault) => cellOf(name, request, fault, play));
	});
}

/** Plays a fault at a request. */
type Play = (fault: ListedFault, seconds: number) => Promise<Outcome>;

function cellOf(subject: string, request: string, fault: ListedFault, play: Play): Cell {
	const { name, isSlow = false } = fault;
	return { subject, request, fault: name, isSlow, run: (seconds) => play(fault, seconds) };
}

/** Each fault at the request with which a service account gets its token, before a request that must not be sent twice. */
export async function tokenCells(faults: readonly ListedFault[]): Promise<Cell[]> {
	const subject = subjects.find(({ name }) => name === 'Spreadsheet: Append');
	if (!subject) throw new Error('There is no such subject');
	const place = { subject, calm: await calmRun(subject), method: 'oauth.token', nth: 1 };
	const play: Play = (fault, seconds) => outcomeOf(place, fault, seconds);
	return faults.map((fault) => cellOf(tokenSubject, 'token', fault, play));
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
		const inputs = [inputOf(subject, world.seeds)];
		const items = await world.run({ inputs, options: limits });
		const methods = world.google.requests.filter(isCall).map(({ method = '' }) => method);
		return { methods, traces: world.traces() - before, output: told(items, world) };
	} finally {
		await world.close();
	}
}

/** A request of an operation that is hit. */
interface Place {
	readonly subject: Subject;
	readonly calm: Calm;
	readonly method: string;
	readonly nth: number;
}

async function outcomeOf(
	{ subject, calm, method, nth }: Place,
	{ google, stays }: ListedFault,
	seconds: number,
): Promise<Outcome> {
	const world = await World.start();
	const signsIn = method === 'oauth.token';
	try {
		let seen = 0;
		const match = (request: LoggedRequest) => {
			if (!signsIn && !isCall(request)) return false;
			if (request.method === method) seen++;
			return seen >= nth;
		};
		// The fault's own getters give what depends on the time.
		world.google.fault({ ...google, match, times: stays ? Infinity : 1 });
		const before = world.traces();
		const options = { ...limits, timeoutSeconds: seconds };
		const authentication = signsIn ? 'serviceAccount' : 'oAuth2';
		const inputs = [inputOf(subject, world.seeds)];
		const ended = await toEnd(world.run({ inputs, options, authentication }));
		await world.settled();
		const requests = signsIn ? world.google.requests.length : world.requests;
		if (world.google.violations.length > 0) throw new Error(world.google.violations.join('\n'));
		const done = (world.traces() - before) / calm.traces;
		const times = subject.operation.mayChange ? undefined : done;
		if ('error' in ended) {
			const claim = readClaim(ended.error);
			const message = withoutIds(ended.error.message, world);
			const lie = times === undefined ? undefined : findLie(claim, times);
			return { message, claim, requests, times, lie };
		}
		const output = told(ended.items, world);
		const isSame = output === calm.output;
		const lie = lieOfSuccess(times) ?? (isSame ? undefined : anotherResult);
		return { message: '', claim: 'done', requests, times, lie };
	} finally {
		await world.close();
	}
}

const anotherResult = 'the result is another one than without the fault';

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
