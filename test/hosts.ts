import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** Hosts that the package may contact by itself, as listed in SECURITY.md. All others come from a credential, from n8n (its sign-in) or the environment. */
export const contacted = [
	'docs.googleapis.com',
	'gmail.googleapis.com',
	'oauth2.googleapis.com',
	'sheets.googleapis.com',
	'www.googleapis.com',
];

/** Hosts in links, in examples of the form and in patterns that recognize addresses. Nothing is sent to them. */
export const onlyNamed = [
	'agent.example.com',
	'developers.google.com',
	'docs.google.com',
	'docs.n8n.io',
	'drive.google.com',
	'github.com',
	'support.google.com',
];

/** Hosts of all addresses in the files of some folders. */
export function findHosts(root: string, folders: readonly string[], endings: RegExp): string[] {
	const files = folders.flatMap((folder) =>
		readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' }).map((file) =>
			path.join(folder, file),
		),
	);
	const texts = files
		.filter((file) => endings.test(file))
		.map((file) => readFileSync(path.join(root, file), 'utf8'));
	const hosts = texts.flatMap((text) =>
		[...text.matchAll(/\b(?:https?|wss?):\/\/([a-z0-9.-]+)/gi)].map(([, host = '']) =>
			host.toLowerCase(),
		),
	);
	return [...new Set(hosts)].sort();
}
