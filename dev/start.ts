// `npm start` shows the package at work in a real n8n and keeps it running; `npm run demo` does the same
// once, without an editor; `npm run dev` keeps n8n running, starts no workflows, and brings every edit of the
// sources into the running n8n.
import { rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import path from 'node:path';
import { parseArgs } from 'node:util';

import { buildDemoAnswer, callBack } from './agent-service/demo.ts';
import { type AgentService, startAgentService } from './agent-service/server.ts';
import { startDemoModel } from './chat-model/demo.ts';
import { type ImportedExample, importExamples } from './examples.ts';
import { seedDemo } from './google/demo.ts';
import { startGoogle } from './google/server.ts';
import { MessageOnlyError } from './n8n/command.ts';
import { getFormUrl, submitForm } from './n8n/forms.ts';
import { ensureN8nInstalled, root } from './n8n/installN8n.ts';
import { installedFolder, installPackage } from './n8n/installPackage.ts';
import { Reloads } from './n8n/reloads.ts';
import { type Execution, type N8nApi, owner } from './n8n/n8nApi.ts';
import { freePort, startN8n } from './n8n/startN8n.ts';
import { reloadOnEdit } from './reload.ts';
import { printSummary } from './transcript.ts';

const apiKey = 'demo-api-key';
/** What a client of the published examples sends. */
const callers = 'demo-token';

/** Functions that stop what was started, in starting order. */
const running: Array<() => Promise<void>> = [];
let stopping: Promise<void> | undefined;
/** Ends n8n without waiting. */
let endNow: (() => Promise<void>) | undefined;

async function main(): Promise<void> {
	const values = flags();
	const port = values.demo ? await freePort() : portNumber(values.port, '--port');
	const agentPort = values.demo ? 0 : portNumber(values['agent-port'], '--agent-port');
	if (!values.demo) {
		await mustBeFree(port, 'the editor', '--port');
		await mustBeFree(agentPort, 'the stand-in of the agent service', '--agent-port');
	}

	await ensureN8nInstalled();
	say('Building the package …');
	const userFolder = path.join(root, '.dev', values.demo ? 'demo' : 'n8n');
	if (values.demo) running.push(() => rm(userFolder, { recursive: true, force: true }));
	await installPackage(userFolder);

	const agent = await startAgentService({
		port: agentPort,
		apiKey,
		messageIntervalMilliseconds: 500,
		// With a text, so that the first thing that a newcomer runs has an output.
		answer: (request) => {
			callBack(request).catch((error: unknown) => {
				say(`The stand-in of the agent service could not call back: ${String(error)}`);
			});
			return {
				...buildDemoAnswer(request),
				text: `Started with the step ${request.startStepName}`,
			};
		},
	});
	running.push(() => agent.close());
	say(`The stand-in of the agent service listens on ${agent.url}`);
	const google = await startGoogle();
	running.push(() => google.close());
	seedDemo(google);
	say(
		`The stand-in of Google's APIs listens on ${google.url} (all its addresses: the credential 'Workspace OAuth2 API (demo)')`,
	);
	const model = await startDemoModel();
	running.push(() => model.close());
	say('Starting n8n …');
	const n8n = await startN8n({
		userFolder,
		port,
		env: {
			// Google's sign-in must return to the address that is open in the browser, so that the session is
			// kept.
			N8N_EDITOR_BASE_URL: `http://127.0.0.1:${port}`,
			// With another origin than the editor's, n8n's chat shows no buttons for a human review.
			N8N_WEBHOOK_URL: `http://127.0.0.1:${port}`,
			GENERIC_TIMEZONE: Intl.DateTimeFormat().resolvedOptions().timeZone,
			...(values.dev && { N8N_DEV_RELOAD: 'true' }),
		},
		ownGroup: true,
		onSpawn: (ending) => {
			running.push(ending.stop);
			endNow = ending.kill;
		},
		...(values.dev && { patienceMilliseconds: 5000 }),
	});

	const workflows = await importExamples(n8n.api, {
		agent: { url: agent.url, webSocketUrl: agent.webSocketUrl, apiKey },
		google,
		callers,
		modelUrl: model.url,
	});
	let succeeded = true;
	for (const { workflow, shown } of workflows) {
		if (!shown || values.dev) continue;
		const run = await (shown === 'run'
			? n8n.api.run(workflow)
			: publishAndSubmit(n8n, workflow, agent));
		succeeded = printSummary(workflow, run) && succeeded;
		if (shown === 'run') continue;
		say('\nWhat the agent sent in that session has started the workflow:');
		succeeded =
			printSummary(workflow, await n8n.api.untilTriggered(workflow, run)) && succeeded;
	}
	if (values.demo) {
		await stopAll();
		say(succeeded ? 'The demo ran.' : 'The demo failed.');
		process.exitCode = succeeded ? 0 : 1;
		return;
	}
	if (values.dev) await bringEditsOver(n8n.api, userFolder);
	void n8n.ended.then(() => endWithIt(n8n.output()));
	const first = workflows[0]?.workflow.id ?? '';
	say(
		`\nOpen  ${n8n.url}/workflow/${first}\n  Email     ${owner.email}\n  Password  ${owner.password}\nThe stand-in for Google lets anyone sign in. Ctrl-C ends everything.`,
	);
}

async function bringEditsOver(api: N8nApi, userFolder: string): Promise<void> {
	const reloads = await Reloads.of(api);
	running.push(() => {
		reloads.close();
		return Promise.resolve();
	});
	const stop = reloadOnEdit({
		installed: path.join(installedFolder(userFolder), 'dist'),
		workshop: path.join(root, '.dev', 'n8n', 'workshop'),
		reloaded: () => reloads.next(),
		say,
	});
	running.push(stop);
	say(
		'Edits in nodes/ and credentials/ are brought into this n8n. Reload the editor to see new fields.',
	);
}

/** Publishes the workflow, waits until its session trigger listens, and submits its form. */
async function publishAndSubmit(
	{ api, url }: { readonly api: N8nApi; readonly url: string },
	workflow: ImportedExample['workflow'],
	agent: AgentService,
): Promise<Execution> {
	await api.activate(workflow);
	while (agent.countOpenChannels() === 0) await new Promise((resolve) => setTimeout(resolve, 50));
	await submitForm(getFormUrl(url, workflow), 'Tell me when it is done');
	return await api.untilTriggered(workflow, undefined, { mode: 'webhook' });
}

function flags() {
	try {
		return parseArgs({
			options: {
				demo: { type: 'boolean', default: false },
				dev: { type: 'boolean', default: false },
				port: { type: 'string', default: '5678' },
				'agent-port': { type: 'string', default: '3010' },
			},
		}).values;
	} catch (error) {
		const [reason] = (error as Error).message.split('. ');
		const message = `${reason}. What can be chosen: npm start -- --port 5678 --agent-port 3010`;
		throw new MessageOnlyError(message, { cause: error });
	}
}

const say = (text: string) => {
	console.log(text);
};

function portNumber(value: string, flag: string): number {
	const port = Number(value);
	if (Number.isInteger(port) && port > 0 && port < 65_536) return port;
	throw new MessageOnlyError(`${flag} must be a port from 1 to 65535, but it is '${value}'.`);
}

async function mustBeFree(port: number, what: string, flag: string): Promise<void> {
	const probe = createServer();
	await new Promise<void>((resolve, reject) => {
		probe.once('error', reject);
		probe.listen(port, '127.0.0.1', resolve);
	}).catch((error: unknown) => {
		throw new MessageOnlyError(
			`Port ${port} is in use, and ${what} needs it. End the other program, or choose a port: npm start -- ${flag} ${port + 1}`,
			{ cause: error },
		);
	});
	await new Promise((resolve) => probe.close(resolve));
}

/** Stops everything, in reverse order. */
async function stopAll(): Promise<void> {
	stopping ??= (async () => {
		for (const stop of running.reverse()) await stop();
	})();
	await stopping;
}

/** Stops everything after n8n ended by itself, and says so, because the editor says only that the connection is lost. */
async function endWithIt(printed: string): Promise<void> {
	if (stopping) return;
	const last = printed.trim().split('\n').slice(-10).join('\n');
	say(
		`\nn8n has ended by itself. It printed at last:\n${last}\nYour workflows are kept: start it again.`,
	);
	await stopAll();
	process.exit(1);
}

// A terminal that is closed sends SIGHUP, and takes no more output.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
	process.on(signal, () => {
		if (stopping) {
			void endNow?.();
			return;
		}
		if (signal !== 'SIGHUP')
			say('\nStopping … (n8n may wait for what is running; Ctrl-C again ends it at once)');
		void stopAll().then(() => {
			// The start may still be in progress and waiting for something that was just stopped.
			process.exit(0);
		});
	});
}

main().catch(async (error: unknown) => {
	if (stopping) return;
	console.error(error instanceof MessageOnlyError ? `\n${error.message}` : error);
	process.exitCode = 1;
	await stopAll();
});
