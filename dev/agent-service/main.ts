// A stand-in for the agent service: node dev/agent-service/main.ts --port 3010 --api-key demo-api-key --latency 50
import { parseArgs } from 'node:util';

import { type AgentService, defaultApiKey, startAgentService } from './server.ts';

const usage = `Usage: node dev/agent-service/main.ts [options]
  --port <number>       default 3010
  --host <address>      default 127.0.0.1
  --api-key <text>      default ${defaultApiKey}
  --prefix <path>       in front of /execute and /ws
  --latency <ms>        before every answer
  --interval <ms>       between the messages of a session, default 500
  --tls                 https and wss, with a self-signed certificate`;

async function main(): Promise<void> {
	const { values } = parseArgs({
		options: {
			port: { type: 'string', default: '3010' },
			host: { type: 'string', default: '127.0.0.1' },
			'api-key': { type: 'string', default: defaultApiKey },
			prefix: { type: 'string', default: '' },
			latency: { type: 'string', default: '0' },
			interval: { type: 'string', default: '500' },
			tls: { type: 'boolean', default: false },
			help: { type: 'boolean', default: false },
		},
	});
	if (values.help) {
		console.log(usage);
		return;
	}
	const service = await startAgentService({
		port: parseWholeNumber(values.port, '--port'),
		host: values.host,
		apiKey: values['api-key'],
		pathPrefix: values.prefix,
		latencyMilliseconds: parseWholeNumber(values.latency, '--latency'),
		messageIntervalMilliseconds: parseWholeNumber(values.interval, '--interval'),
		tls: values.tls,
		// Nobody reads the log of this program, and over days it would fill the memory.
		keepLog: false,
	});
	closeOnSignals(service);
	console.log(`The stand-in for the agent service is running.
  POST ${service.url}/execute
  GET  ${service.webSocketUrl}/ws
  x-api-key: ${service.apiKey}
Press Ctrl+C to stop it.`);
}

function parseWholeNumber(value: string, flag: string): number {
	const number = Number(value);
	if (Number.isInteger(number) && number >= 0) return number;
	throw new TypeError(`${flag} must be a whole number, but it is '${value}'.`);
}

function closeOnSignals(service: AgentService): void {
	for (const signal of ['SIGINT', 'SIGTERM'] as const) {
		process.once(signal, () => {
			void service.close().then(() => process.exit(0));
		});
	}
}

main().catch((error: unknown) => {
	console.error(describeError(error));
	process.exitCode = 1;
});

function describeError(error: unknown): string {
	const { code, port } = error as { code?: string; port?: number };
	if (code === 'EADDRINUSE') {
		return `Port ${port} is in use. End the other program, or choose another port: node dev/agent-service/main.ts --port ${Number(port) + 1}`;
	}
	if (code === 'EACCES')
		return `Port ${port} may not be opened by this user. Choose one above 1023.`;
	return error instanceof TypeError ? `${error.message}\n\n${usage}` : String(error);
}
