import { Template } from '../../dev/n8n/template.ts';

// A run of another version may go on beside the tests.
export const template = new Template(process.env.VERSIONS ? 'test-versions' : 'test');

let prepared: Promise<void> | undefined;

/** Once in a run, whichever suites ask for it. */
export default async function prepare(): Promise<void> {
	prepared ??= template.prepare();
	await prepared;
}
