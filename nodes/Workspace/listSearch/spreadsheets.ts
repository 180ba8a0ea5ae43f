import { searchOf } from './driveFiles';

export const searchSpreadsheets = searchOf({
	mimeType: 'application/vnd.google-apps.spreadsheet',
	plural: 'spreadsheets',
	orderBy: 'viewedByMeTime desc,name_natural',
	otherwise: 'Create a spreadsheet first, or give it by its ID or URL.',
});
