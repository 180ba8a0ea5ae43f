/** A file to attach whose bytes are not read yet. The names `filename`, `contentType` and, below, `cid` are those of nodemailer. */
export interface PendingFile {
	readonly filename: string;
	readonly contentType: string | undefined;
	/** In bytes. 0 for one of Google's own files, because Google has not made its PDF yet. */
	readonly size: number;
	/** The binary field of the item that the file comes from. */
	readonly field?: string;
	/** The ID of the Google document or other file of Google's own type, if its PDF is attached. */
	readonly googleFileId?: string;
	readonly read: () => Promise<Buffer>;
}
