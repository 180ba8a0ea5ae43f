/** Where Drive takes a new file; the transport puts the credential's base in place of Google's. */
export function uploadAddress(uploadType: 'multipart' | 'resumable', fields: string): string {
	const query = new URLSearchParams({ uploadType, supportsAllDrives: 'true', fields });
	return `https://www.googleapis.com/upload/drive/v3/files?${query.toString()}`;
}
