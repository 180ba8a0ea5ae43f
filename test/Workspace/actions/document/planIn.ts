import type { DocumentContent } from '../../../../nodes/untrusted/document/blocks';
import { emptyPlace } from '../../../../nodes/Workspace/actions/document/contentPlace';
import { planContent } from '../../../../nodes/Workspace/actions/document/contentRequests';

/** Plans content in an empty document. */
export const planIn = (content: DocumentContent, changes: object = {}) =>
	planContent(
		{ ...content, insertImages: false },
		{ ...emptyPlace, continuesParagraph: false, resetsStyle: false, ...changes },
	);
