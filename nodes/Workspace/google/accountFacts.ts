import { BoundedMap } from '../../core/boundedMap';
import { processSlot } from '../../core/globalSingleton';

const freshMilliseconds = 10 * 60_000;
/** Of all accounts. A fact is a name or an address. */
const maxFacts = 1000;

interface Fact {
	readonly learnedAt: number;
	readonly value: unknown;
}

/**
 * What rarely changes about an account, asked at most every ten minutes in this process: most runs have one
 * item, and asking would double their requests. A failure is not kept.
 * @param account differs for every account and sign-in
 */
export async function accountFact<T>(account: string, name: string, ask: () => Promise<T>): Promise<T> {
	const facts = processSlot('accountFacts', () => new BoundedMap<string, Fact>(maxFacts));
	const key = `${account} ${name}`;
	const known = facts.get(key);
	// A name stands for one question, whose answers have one type; the map cannot say so.
	if (known && performance.now() - known.learnedAt < freshMilliseconds) return known.value as T;
	const value = await ask();
	facts.set(key, { learnedAt: performance.now(), value });
	return value;
}
