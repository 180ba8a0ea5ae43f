import type { DocumentContent } from '../../../../nodes/untrusted/document/blocks';
import { planContent } from '../../../../nodes/Workspace/actions/document/contentRequests';

/** Plans content in an empty document. */
export const planIn = (content: DocumentContent, changes: object = {}) =>
	planContent(
		content,
		{
			index: 1,
			deletedEnd: 1,
			tabId: undefined,
			isParagraphEmpty: true,
			keepsStyle: true,
			...changes,
		},
		() => false,
	);
