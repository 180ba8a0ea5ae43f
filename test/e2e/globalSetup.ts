import { Template } from '../../dev/n8n/template.ts';

export const template = new Template('test');

let prepared: Promise<void> | undefined;

/** Once in a run, whichever suites ask for it. */
export default async function prepare(): Promise<void> {
	prepared ??= template.prepare();
	await prepared;
}
