import { searchOf } from './driveFiles';

export const searchDocuments = searchOf({
	mimeType: 'application/vnd.google-apps.document',
	orderBy: 'viewedByMeTime desc,name_natural',
});
