import type { IDataObject, INodeExecutionData } from 'n8n-workflow';

import type { Fault } from '../../dev/google/faults';
import type { LoggedRequest } from '../../dev/google/server';
import example from '../../examples/new-emails-into-rows.json';
import { BuiltNodes, type Stage } from '../build/built';
import { faultList } from './faultList';
import { Seeded } from './seeded';
import { isCall, World } from './world';

const hours = 100;
/** Until all faults are over and everything is done. */
const calmHours = 3;
/** Requests of a calm hour, and in it for each email. */
const requestsAtAll = 4;
const requestsPerEmail = 3;
const tab = 'Emails';

interface Step {
	readonly name: string;
	readonly type: string;
	readonly parameters: IDataObject & { readonly options: IDataObject };
}

const steps = (example.nodes as Step[]).filter(({ type }) => type.endsWith('.workspace'));
const locate = (value: string) => ({ __rl: true, mode: 'id', value });

interface Trouble {
	readonly fault?: Omit<Fault, 'match' | 'nth'>;
	/** Kills n8n with the request. */
	readonly kills?: true;
	/** A new email arrives with the request. */
	readonly brings?: true;
	readonly isSlow?: boolean;
}

/** The hourly workflow against a stand-in, in processes that are killed: all that happens follows from the seed. */
export class HourlyFlow {
	private readonly world: World;
	private readonly random: Seeded;
	private readonly stage: Stage;
	private n8n: BuiltNodes;
	/** Ready to go on when n8n is killed. */
	private spare: BuiltNodes;
	private readonly sheet: string;
	private readonly emails: string[];
	private readonly wrongs: string[] = [];
	/** Unread emails. */
	private waiting = 2;
	private kills = 0;
	private failures = 0;

	private constructor(world: World, seed: number, stage: Stage) {
		this.world = world;
		this.random = new Seeded(seed);
		this.stage = stage;
		this.n8n = new BuiltNodes(stage);
		this.spare = new BuiltNodes(stage);
		const rows = [['id', 'Received', 'From', 'Subject']];
		this.sheet = world.google.sheets.seed({ title: 'Emails', tabs: [{ title: tab, rows }] });
		this.emails = [world.seeds.messageId, world.seeds.mailWithFileId];
	}

	static async play(seed: number, stage: Stage) {
		const world = await World.start();
		const flow = new HourlyFlow(world, seed, stage);
		try {
			for (let hour = 0; hour < hours + calmHours; hour++) await flow.#playHour(hour);
			const { wrongs, emails, kills, failures } = flow;
			const [rows, unread] = [flow.#rows(), await flow.#unread()];
			return { wrongs, emails, kills, failures, rows, unread };
		} finally {
			for (const { child } of [flow.n8n, flow.spare]) child.kill();
			await world.close();
		}
	}

	async #playHour(hour: number): Promise<void> {
		const isCalm = hour >= hours;
		for (let left = isCalm ? 0 : this.random.within(0, 3); left > 0; left--) this.#receive();
		const troubles = isCalm ? [] : this.#draw();
		let isOver = false;
		for (const trouble of troubles) this.#prepare(trouble, () => isOver);
		const tries = this.random.one([1, 1, 2]);
		const timeoutSeconds = troubles.some(({ isSlow }) => isSlow) ? 1 : 60;
		const failure = await this.#execute(hour, tries, timeoutSeconds);
		isOver = true;
		if (failure !== undefined) this.failures++;
		if (isCalm && failure !== undefined) this.wrongs.push(`hour ${hour} was calm: ${failure}`);
		await this.#check(hour);
	}

	#receive(): void {
		this.waiting++;
		this.emails.push(this.world.google.gmail.seed({ subject: `Email ${this.emails.length}` }));
	}

	#draw(): Trouble[] {
		const kind = this.random.next();
		if (kind < 0.2) return [];
		if (kind < 0.35) {
			const connection = this.random.one(['resetBefore', 'resetAfter'] as const);
			return [{ fault: { connection }, kills: true }];
		}
		return Array.from({ length: this.random.within(1, 3) }, (): Trouble => {
			if (this.random.next() < 0.1) return { brings: true };
			const { google, stays, isSlow } = this.random.one(faultList);
			const fault = { ...google, times: stays ? Infinity : 1, dripMilliseconds: 400 };
			return { fault, isSlow };
		});
	}

	#prepare({ fault, kills, brings }: Trouble, isOver: () => boolean): void {
		const nth = this.random.within(1, requestsAtAll + requestsPerEmail * this.waiting);
		let seen = 0;
		const match = (request: LoggedRequest) => {
			if (isOver() || !isCall(request) || ++seen < nth) return false;
			if (brings && seen === nth) this.#receive();
			if (kills) this.n8n.child.kill('SIGKILL');
			return !brings;
		};
		this.world.google.fault({ ...fault, match });
	}

	/** One execution of the workflow; a node that fails ends it. @returns the failure */
	async #execute(
		hour: number,
		tries: number,
		timeoutSeconds: number,
	): Promise<string | undefined> {
		const limits = { timeLimits: { limits: { maxRetryWaitSeconds: 1, timeoutSeconds } } };
		let items: INodeExecutionData[] = [{ json: {} }];
		for (const { name, parameters } of steps) {
			const place = name === 'Add the rows' && { spreadsheetId: locate(this.sheet) };
			const options = { ...parameters.options, ...limits };
			const context = {
				...this.world.signIn(),
				items,
				parameters: { ...parameters, ...place, options },
				executionId: `execution-${hour % 5}`,
				node: {
					id: `${name}, hour ${hour}`,
					name,
					retryOnFail: tries > 1,
					maxTries: tries,
					// An hour later, no limit of Google's is left of the last run.
					credentials: { workspaceOAuth2Api: { id: `hour-${hour}`, name: 'Mine' } },
				},
			};
			const ended = await this.#run(context, tries);
			if (!ended.items?.length) return ended.error;
			items = ended.items.map((json, item) => ({ json, pairedItem: { item } }));
		}
		return undefined;
	}

	/** Runs a node as n8n does with Retry On Fail. */
	async #run(context: object, tries: number) {
		for (let left = tries; ; left--) {
			const answer = await this.n8n.run('Workspace', [context]);
			if (!answer) {
				this.kills++;
				this.n8n = this.spare;
				this.spare = new BuiltNodes(this.stage);
				return { error: 'n8n was killed' };
			}
			const [ended = { error: 'no end' }] = answer.ended;
			if (ended.error === undefined || left <= 1) return ended;
		}
	}

	/** What must be so after each hour, whatever happened. */
	async #check(hour: number): Promise<void> {
		await this.world.settled();
		const rows = this.#rows();
		const unread = await this.#unread();
		this.waiting = unread.length;
		for (const [at, id] of rows.entries())
			if (rows.indexOf(id) !== at) this.wrongs.push(`hour ${hour}: two rows for ${id}`);
		for (const id of this.emails)
			if (!rows.includes(id) && !unread.includes(id))
				this.wrongs.push(`hour ${hour}: no row for ${id}, and it is marked as read`);
		this.wrongs.push(...this.world.google.violations);
	}

	#rows(): string[] {
		return this.world.google.sheets
			.values(this.sheet, `${tab}!A2:A1000`)
			.map(([id]) => String(id));
	}

	/** As Gmail tells it to somebody else. */
	async #unread(): Promise<string[]> {
		const { tokens, url } = this.world.google;
		const answer = await fetch(`${url}/gmail/v1/users/me/messages?q=is:unread&maxResults=500`, {
			headers: { Authorization: `Bearer ${tokens.issue()}` },
		});
		const { messages = [] } = (await answer.json()) as { messages?: Array<{ id: string }> };
		return messages.map(({ id }) => id);
	}
}
