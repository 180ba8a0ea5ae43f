import { searchOf } from './driveFiles';

export const searchSpreadsheets = searchOf({
	mimeType: 'application/vnd.google-apps.spreadsheet',
	orderBy: 'viewedByMeTime desc,name_natural',
});
