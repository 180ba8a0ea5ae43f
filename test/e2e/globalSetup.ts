import { Template } from '../../dev/n8n/template.ts';

export const template = new Template('test');

export default async function prepare(): Promise<void> {
	await template.prepare();
}
