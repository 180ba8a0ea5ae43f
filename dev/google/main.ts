// `node dev/google/main.ts --port 3020` runs the stand-in of Google's APIs until Ctrl-C.
import { parseArgs } from 'node:util';

import { seedDemo } from './demo.ts';
import { startGoogle } from './server.ts';

const options = {
	port: { type: 'string', default: '3020' },
	prefix: { type: 'string', default: '' },
	latency: { type: 'string', default: '0' },
	user: { type: 'string', default: 'someone@example.com' },
} as const;

async function main(): Promise<void> {
	const { values } = parseArgs({ options });
	const port = parseWhole(values.port, '--port');
	const google = await startGoogle({
		port,
		pathPrefix: values.prefix,
		latencyMilliseconds: parseWhole(values.latency, '--latency'),
		users: [values.user],
	}).catch((error: unknown) => {
		if (error instanceof Error && 'code' in error && error.code === 'EADDRINUSE') {
			throw new UserError(
				`Port ${port} is in use. End the other program, or choose a port: node dev/google/main.ts --port ${port + 1}`,
			);
		}
		throw error;
	});
	seedDemo(google);
	const token = google.tokens.issue({ token: 'demo-token' });
	console.log(`The stand-in of Google's APIs listens on ${google.url}

  Gmail    ${google.url}/gmail/v1
  Sheets   ${google.url}/v4/spreadsheets
  Docs     ${google.url}/v1/documents
  Drive    ${google.url}/drive/v3
  sign-in  ${google.url}/o/oauth2/v2/auth and ${google.url}/token

An access token for ${values.user}: ${token}
Press Ctrl+C to stop it.`);
	for (const signal of ['SIGINT', 'SIGTERM'] as const)
		process.once(signal, () => void google.close());
}

/** An error whose message is sufficient without a stack. */
class UserError extends Error {}

function parseWhole(text: string, flag: string): number {
	const number = Number(text);
	if (Number.isInteger(number) && number >= 0 && number < 65_536) return number;
	throw new UserError(`${flag} must be a whole number from 0 to 65535, but it is '${text}'.`);
}

main().catch((error: unknown) => {
	console.error(error instanceof UserError ? error.message : error);
	process.exitCode = 1;
});
