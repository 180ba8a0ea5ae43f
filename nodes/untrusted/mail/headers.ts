import type { gmail_v1 } from 'googleapis/build/src/apis/gmail/v1';

import { decodedWords } from './encodedWords';

/** Values of all headers with a name, ignoring case. */
export function headersOf({ payload }: gmail_v1.Schema$Message, name: string): string[] {
	const wanted = name.toLowerCase();
	return (payload?.headers ?? []).flatMap((header) =>
		header.name?.toLowerCase() === wanted ? [decodedWords(header.value ?? '')] : [],
	);
}

/** Value of the first header with a name, ignoring case. */
export function headerOf(message: gmail_v1.Schema$Message, name: string): string | undefined {
	return headersOf(message, name)[0];
}
