import * as actions from './actions';
import { compareNames } from '../fields/fieldProperty';
import type { Operation, ResourceName } from './operation';

export interface Resource {
	/** Saved in workflows; also `resource` in JSON mode. */
	readonly value: ResourceName;
	readonly name: string;
	readonly description: string;
	readonly operations: readonly Operation[];
	/** Saved workflows depend on it. */
	readonly defaultOperation: string;
}

/** In the order of the dropdown. */
export const resources: readonly Resource[] = [
	{
		value: 'document',
		name: 'Document',
		description: 'Google Docs',
		operations: sorted(actions.document),
		defaultOperation: 'create',
	},
	{
		value: 'file',
		name: 'File',
		description: 'Google Drive',
		operations: sorted(actions.file),
		defaultOperation: 'upload',
	},
	{
		value: 'mail',
		name: 'Mail',
		description: 'Gmail',
		operations: sorted(actions.mail),
		defaultOperation: 'send',
	},
	{
		value: 'spreadsheet',
		name: 'Spreadsheet',
		description: 'Google Sheets',
		operations: sorted(actions.spreadsheet),
		defaultOperation: 'create',
	},
];

export const defaultResource: ResourceName = 'mail';

function sorted(operations: Readonly<Record<string, Operation>>): readonly Operation[] {
	return Object.values(operations).sort((a, b) => compareNames(a.name, b.name));
}
