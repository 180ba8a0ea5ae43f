/** Google's services. Gmail is called `mail`, as the resource that uses it. */
export type Api = 'mail' | 'sheets' | 'docs' | 'drive';

export const apiNames: Readonly<Record<Api, string>> = {
	mail: 'Gmail',
	sheets: 'Google Sheets',
	docs: 'Google Docs',
	drive: 'Google Drive',
};

/**
 * The base address of each API. In a credential, it may be the address of a gateway, with a path.
 */
export type ApiBases = Readonly<Record<Api, string>>;

export const googleApiBases: ApiBases = {
	mail: 'https://gmail.googleapis.com/gmail/v1',
	sheets: 'https://sheets.googleapis.com/v4/spreadsheets',
	docs: 'https://docs.googleapis.com/v1/documents',
	drive: 'https://www.googleapis.com/drive/v3',
};

export const googleTokenUrl = 'https://oauth2.googleapis.com/token';
