import { decodeHeader, decodeText, unescapeBytes } from './charset';
import { type MimePart, getDisposition, getMediaType, getRawHeader } from './mimeStructure';

export interface AttachmentOutput {
	/** Only valid for this read, because Gmail returns another ID each time. '' if Gmail returns no ID, for example for an empty file. */
	readonly attachmentId: string;
	/** '' for a file without a name. */
	readonly fileName: string;
	readonly mimeType: string;
	/** Bytes, according to Gmail. */
	readonly size: number;
	/** Whether the file is shown in the text, such as an image in an HTML email. */
	readonly inline: boolean;
	/** Without angle brackets; '' for a file without a content ID. */
	readonly contentId: string;
}

export interface MailFile {
	readonly info: AttachmentOutput;
	/** The content in base64url; '' if Gmail returns it only for the attachment ID or in the raw email. */
	readonly data: string;
	readonly partId: string;
	/** Whether the file is an attached email, which has parts. */
	readonly isMail: boolean;
}

/** @param isRelated whether the part is in a `multipart/related`, as images of HTML are */
export function readFile(part: MimePart, isRelated: boolean): MailFile {
	const contentId = getRawHeader(part, 'Content-ID').trim().replaceAll(/^<|>$/g, '');
	const disposition = getDisposition(part);
	const isRelatedImage = isRelated && contentId !== '' && disposition !== 'attachment';
	const info = {
		attachmentId: part.body?.attachmentId ?? '',
		fileName: decodeHeader(part.filename ?? '') || findNameInHeader(part),
		mimeType: getMediaType(part),
		size: part.body?.size ?? 0,
		inline: disposition === 'inline' || isRelatedImage,
		contentId,
	};
	const isMail = (part.parts?.length ?? 0) > 0;
	return { info, data: part.body?.data ?? '', partId: part.partId ?? '', isMail };
}

/** Finds a file name that Gmail cannot read, such as RFC 2231 in quotes: `attachment; filename*= "UTF-8''XYZ%20A6-1.pdf"`. */
const findNameInHeader = (part: MimePart) =>
	readNameParameter(getRawHeader(part, 'Content-Disposition')) ||
	readNameParameter(getRawHeader(part, 'Content-Type'));

const nameParameterPattern =
	/;\s*(?:file)?name(?<star>\*?)\s*=\s*(?:"(?<quoted>[^"]*)"|(?<bare>[^;]*))/i;

function readNameParameter(header: string): string {
	const { star, quoted, bare } = nameParameterPattern.exec(header)?.groups ?? {};
	const value = (quoted ?? bare ?? '').trim();
	const [, charset = '', bytes] = /^([^']*)'[^']*'(.*)$/s.exec(value) ?? [];
	if (!star || bytes === undefined) return decodeHeader(value);
	return decodeText(Buffer.from(unescapeBytes(bytes, '%'), 'latin1'), charset);
}
