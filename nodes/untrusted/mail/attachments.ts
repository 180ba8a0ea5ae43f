import { partHeader, dispositionOf, typeOf, type FilePart } from './mimeStructure';
import { decodedWords } from './encodedWords';

export interface AttachmentInfo {
	/**
	 * Valid for this read only, because Gmail returns a new one each time. '' if Gmail gives none, such as
	 * for an empty file.
	 */
	readonly attachmentId: string;
	/** '' for a file without a name. */
	readonly fileName: string;
	readonly mimeType: string;
	/** Bytes, according to Gmail. */
	readonly size: number;
	/** Whether it belongs in the text, such as a picture in an HTML email. */
	readonly inline: boolean;
	/** Without angle brackets; '' if it has none. */
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
