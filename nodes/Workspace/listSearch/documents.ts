import { searchOf } from './driveFiles';

export const searchDocuments = searchOf({
	mimeType: 'application/vnd.google-apps.document',
	plural: 'documents',
	orderBy: 'viewedByMeTime desc,name_natural',
	otherwise: 'Create a document first, or give it by its ID or URL.',
});
