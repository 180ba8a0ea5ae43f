import { partHeader, dispositionOf, typeOf, type FilePart } from './anatomy';
import { decodedWords } from './words';

export interface AttachmentInfo {
	/** Good for this read only: Gmail gives another one each time. '' for a file that Gmail gives none, such as an empty one. */
	readonly attachmentId: string;
	/** '' for a file without a name. */
	readonly fileName: string;
	readonly mimeType: string;
	/** Bytes, as far as Gmail says. */
	readonly size: number;
	/** Whether it belongs into the text, as a picture of an HTML email does. */
	readonly inline: boolean;
	/** Without angle brackets; '' when it has none. */
	readonly contentId: string;
}

export function attachmentInfo({ part, related }: FilePart): AttachmentInfo {
	const contentId = partHeader(part, 'Content-ID').trim().replaceAll(/^<|>$/g, '');
	const disposition = dispositionOf(part);
	return {
		attachmentId: part.body?.attachmentId ?? '',
		fileName: decodedWords(part.filename ?? ''),
		mimeType: typeOf(part),
		size: part.body?.size ?? 0,
		inline: disposition === 'inline' || (related && contentId !== '' && disposition !== 'attachment'),
		contentId,
	};
}
