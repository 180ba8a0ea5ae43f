export interface BrowserSuite {
	readonly n8nUrl: string;
	/** File with all that n8n has printed. */
	readonly log: string;
	/** Address at which the test files connect to Chromium: one profile for all, with one sign-in and one cache. */
	readonly debuggingUrl: string;
}

const variable = 'BROWSER_SUITE';

/** Passes the suite's data to its test files, which run in processes of their own. */
export function handOver(suite: BrowserSuite): void {
	process.env[variable] = JSON.stringify(suite);
}

export function browserSuite(): BrowserSuite {
	const text = process.env[variable];
	if (text === undefined) throw new Error('The browser suite was not started');
	return JSON.parse(text) as BrowserSuite;
}
