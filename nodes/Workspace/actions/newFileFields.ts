import { type Field, textType } from '../../fields/field';
import { buildFileLocator } from '../locators';

export const titleField = {
	displayName: 'Title',
	name: 'title',
	...textType,
	required: true,
} as const satisfies Field;

/** Builds the field for the folder or shared drive of a new file. Empty means My Drive. */
export const buildParentFolderField = (description: string) =>
	({
		displayName: 'Parent Folder',
		name: 'parentFolder',
		...buildFileLocator('folder', 'searchFolders'),
		mustBeFound: true,
		description,
	}) as const satisfies Field;
