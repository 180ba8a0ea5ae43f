import { mailFacts } from './facts/mail.ts';
import { documentFacts } from './facts/documents.ts';
import { spreadsheetFacts } from './facts/spreadsheets.ts';
import type { GoogleAccount } from './googleAccount.ts';
import type { Made } from './steps.ts';

/** Something that the package relies on, and what Google does. */
export interface Fact {
	readonly claim: string;
	/** What Google did, in words without IDs and addresses. */
	readonly seen: string;
	/** `answered`: nothing was claimed. `unclear`: the request failed in another way. */
	readonly verdict: 'right' | 'WRONG' | 'answered' | 'unclear';
}

/** Asks all questions. Names what it makes with the prefix, and adds it to the list. */
export async function factsOf(
	account: GoogleAccount,
	prefix: string,
	made: Made[],
): Promise<Fact[]> {
	const facts: Fact[] = [];
	for (const questionsOf of [spreadsheetFacts, documentFacts, mailFacts]) {
		for (const { claim, ask } of await questionsOf(account, prefix, made)) {
			try {
				const { seen, isAsClaimed } = await ask();
				facts.push({ claim, seen, verdict: verdictOf(isAsClaimed) });
			} catch (error) {
				const seen = error instanceof Error ? error.message : String(error);
				facts.push({ claim, seen, verdict: 'unclear' });
			}
		}
	}
	return facts;
}

function verdictOf(isAsClaimed: boolean | undefined): Fact['verdict'] {
	if (isAsClaimed === undefined) return 'answered';
	return isAsClaimed ? 'right' : 'WRONG';
}
