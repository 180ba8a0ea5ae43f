import type { Field } from '../../fields/field';

/** Where a new file goes: a folder or shared drive, otherwise My Drive. */
export const parentFolder = (description: string) =>
	({
		displayName: 'Parent Folder',
		name: 'parentFolder',
		type: 'resourceLocator',
		default: { __rl: true, mode: 'list', value: '' },
		format: 'fileId',
		searchListMethod: 'searchFolders',
		description,
	}) as const satisfies Field;
