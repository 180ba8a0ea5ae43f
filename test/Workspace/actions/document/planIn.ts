import type { DocumentContent } from '../../../../nodes/untrusted/document/blocks';
import { planContent } from '../../../../nodes/Workspace/actions/document/contentRequests';
import type { PictureChoice } from '../../../../nodes/Workspace/actions/document/layout';

/** Plans content in an empty document. */
export const planIn = (
	content: DocumentContent,
	changes: object = {},
	isPicture: PictureChoice = () => false,
) =>
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
		isPicture,
	);
