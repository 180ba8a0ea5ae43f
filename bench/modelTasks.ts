// Twelve tasks for n8n's AI Agent in a real n8n, with tools of the Workspace node and with n8n's own. The model is a script that sees
// what a real one would: the names, descriptions and parameters of its tools, and what they answer. Where a request is beyond 128,000
// tokens, of 4 characters each, it is refused, as real models do.
// node bench/modelTasks.ts [part of a task's name …]
import {
	type ChatModel,
	type ChatRequest,
	countCharacters,
	type Reply,
	startChatModel,
} from '../dev/chat-model/server.ts';
import { type GoogleServer, startGoogle } from '../dev/google/server.ts';
import { buildAgentWorkflow } from '../dev/n8n/nodes.ts';
import type { RestartableN8n } from '../dev/n8n/startRestartableN8n.ts';
import { benchN8n, createCredentials, type Credentials, describeHost, redirectTo } from './n8n.ts';
import { createSignIns } from './operations/world.ts';
import { type Args, type Play, seed, type Task, tasks } from './modelTasks/tasks.ts';
import { buildOurTools, buildTheirTools, createToolNodes } from './modelTasks/tools.ts';
import { reportRatio, row, say } from './report.ts';

const charactersPerToken = 4;
const contextTokens = 128_000;
/** What a tool of ours gives at the most: a longer answer is a long one. */
const longCharacters = 30_000;

/** What a task took, in characters. */
interface Taken {
	readonly isDone: boolean;
	readonly calls: number;
	/** Of all requests to the model: each holds the tools and the conversation so far. */
	readonly read: number;
	/** What the model wrote. */
	readonly written: number;
	/** The largest request. */
	readonly context: number;
	readonly longestAnswer: number;
}

/** Makes the model play a task. @returns what it does */
function play(model: ChatModel, task: Task) {
	const done = { calls: 0, written: 0, said: '' };
	let playing: Play<string> | undefined;
	model.requests.length = 0;
	model.answer(({ tools, toolAnswers }): Reply => {
		const next =
			playing?.next(toolAnswers.at(-1) ?? '') ?? (playing = task.play(makeAsk(tools))).next();
		if (next.done) done.said = next.value;
		else done.calls++;
		const reply = next.done ? next.value : [next.value];
		done.written += JSON.stringify(reply).length;
		return reply;
	});
	return done;
}

/** Calls a tool with what its schema asks for. */
function makeAsk(tools: ChatRequest['tools']) {
	return function* (tool: string, args: Args = {}): Play<string> {
		const { properties = {} } = tools.find(({ name }) => name === tool)?.parameters ?? {};
		const given = Object.entries(properties).map(([name, property]) => {
			const isNumber = 'type' in property && property.type === 'number';
			return [name, isNumber ? Number(args[name] ?? 0) : (args[name] ?? '')];
		});
		return yield { tool, args: Object.fromEntries(given) as Args };
	};
}

interface World {
	readonly n8n: RestartableN8n;
	readonly google: GoogleServer;
	readonly model: ChatModel;
	readonly credentials: Credentials;
}

async function run(
	{ n8n, google, model, credentials }: World,
	task: Task,
	build: typeof buildOurTools,
): Promise<Taken> {
	const ids = seed(google);
	const tools = createToolNodes(build(ids), credentials);
	const played = play(model, task);
	const { openAiApi } = credentials;
	const workflow = buildAgentWorkflow(tools, { openAiApi, text: task.name });
	const { status, resultData } = await n8n.api.runOnce(workflow);
	const isDone = status === 'success' && task.isDone(played.said, google, ids);
	if (!isDone)
		say(`${task.name}: ${tools[0]?.type ?? ''}: ${resultData.error?.message ?? played.said}`);
	const sizes = model.requests.map(countCharacters);
	const answers = model.requests.flatMap(({ toolAnswers }) =>
		toolAnswers.map(({ length }) => length),
	);
	return {
		...{ isDone, calls: played.calls, written: played.written },
		read: sizes.reduce((sum, size) => sum + size, 0),
		context: Math.max(...sizes),
		longestAnswer: Math.max(0, ...answers),
	};
}

function print(name: string, { isDone, calls, read, written, context }: Taken): void {
	const [given, out, largest] = [read, written, context].map((count) =>
		count.toLocaleString('en-US'),
	);
	row(
		name,
		`${isDone ? 'done' : 'fails'}, ${calls} calls`,
		`in ${given}, out ${out}, largest context ${largest}`,
	);
}

async function main(): Promise<void> {
	const wanted = process.argv.slice(2);
	const google = await startGoogle({ tolerant: true });
	const model = await startChatModel({ maxCharacters: contextTokens * charactersPerToken });
	const n8n = await benchN8n({ env: redirectTo(google.url) });
	const results: Array<{ name: string; ours: Taken; theirs: Taken }> = [];
	try {
		const openAi = { openAiApi: { apiKey: 'none', url: model.url } };
		const credentials = {
			...(await createSignIns(n8n.api)),
			...(await createCredentials(n8n.api, openAi)),
		};
		const world = { n8n, google, model, credentials };
		say(`${await describeHost()}; ${charactersPerToken} characters count as a token\n`);
		for (const task of tasks.filter(({ name }) =>
			wanted.every((text) => name.includes(text)),
		)) {
			const ours = await run(world, task, buildOurTools);
			const theirs = await run(world, task, buildTheirTools);
			say(task.name);
			print('  Workspace', ours);
			print("  n8n's own", theirs);
			results.push({ name: task.name, ours, theirs });
		}
	} finally {
		await n8n.remove();
		await model.close();
		await google.close();
	}
	say('');
	for (const { name, ours, theirs } of results)
		if (theirs.longestAnswer > longCharacters)
			reportRatio(`${name}: characters in / n8n's own`, ours.read / theirs.read, {
				atMost: 0.333,
			});
	const largest = Math.max(...results.map(({ ours }) => ours.context)) / charactersPerToken;
	reportRatio('Largest context of ours / 128,000 tokens', largest / contextTokens, { atMost: 1 });
	const done = results.filter(({ ours }) => ours.isDone).length;
	reportRatio('Tasks done with ours / tasks', done / results.length, { atLeast: 1 });
}

await main();
