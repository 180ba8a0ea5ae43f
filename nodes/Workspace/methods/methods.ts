import type { INodePropertyOptions } from 'n8n-workflow';

import { compareNames } from '../../fields/description';
import { allLabels } from '../actions/mail/list/labelIds';
import type { Clients } from '../operation';
import { searchDocuments, searchFolders, searchSpreadsheets } from './driveFiles';
import { headerColumns, matchColumns, noColumns } from './headerColumns';
import { chooser, picker } from './picker';
import { inChosenSpreadsheet, searchTabs } from './spreadsheetParts';

/** The labels of the mailbox to choose from, its own first. */
export async function labelChoices(clients: Pick<Clients, 'gmail'>): Promise<INodePropertyOptions[]> {
	const labels = await allLabels(clients);
	const choices = labels.flatMap(({ id, name, type }) =>
		id ? [{ name: type === 'user' ? (name ?? id) : systemName(id), value: id, isOwn: type === 'user' }] : [],
	);
	const sorted = choices.sort((a, b) => Number(b.isOwn) - Number(a.isOwn) || compareNames(a.name, b.name));
	return sorted.map(({ name, value }) => ({ name, value }));
}

/** `CATEGORY_SOCIAL` as people read it: Category Social. */
function systemName(id: string): string {
	return id
		.toLowerCase()
		.split('_')
		.map((word) => word.charAt(0).toUpperCase() + word.slice(1))
		.join(' ');
}

/** The node's methods for its form, by n8n's names. */
export const methods = {
	getLabels: chooser(labelChoices),
	getMatchColumns: inChosenSpreadsheet(matchColumns, () => []),
	headerColumns: inChosenSpreadsheet(headerColumns, () => noColumns('Choose the spreadsheet first.')),
	searchDocuments: picker(searchDocuments),
	searchFolders: picker(searchFolders),
	searchSpreadsheets: picker(searchSpreadsheets),
	searchTabs: inChosenSpreadsheet(searchTabs, () => ({ results: [] })),
};
