import { inChosenSpreadsheet } from './chosenSpreadsheet';
import { searchDocuments } from './documents';
import { searchFolders } from './folders';
import { headerColumns, noColumns } from './headerColumns';
import { labelChoices } from './labels';
import { chooser, picker } from './picker';
import { searchSpreadsheets } from './spreadsheets';
import { searchTabs } from './tabs';

/** The node's methods for its form, by n8n's names. */
export const methods = {
	getLabels: chooser(labelChoices),
	headerColumns: inChosenSpreadsheet(headerColumns, () => noColumns('Choose the spreadsheet first.')),
	searchDocuments: picker(searchDocuments),
	searchFolders: picker(searchFolders),
	searchSpreadsheets: picker(searchSpreadsheets),
	searchTabs: inChosenSpreadsheet(searchTabs, () => ({ results: [] })),
};
