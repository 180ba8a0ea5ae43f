/** A violation of Google's contract, by the client or by the stand-in itself. */
export class Violation extends Error {
	constructor(where: string, faults: readonly string[]) {
		super(`${where}: ${faults.join('; ')}`);
	}
}

/** A status that Google does not use, so that it cannot be mistaken for one of Google's. */
export const violationStatus = 599;

/**
 * Throws if the stand-in received a request, or gave an answer, that Google's contract does not know. Meant
 * for `afterEach`.
 */
export function expectNoViolations({ violations }: { violations: readonly string[] }): void {
	if (violations.length === 0) return;
	throw new Error(`The contract of Google's APIs was broken:\n${violations.join('\n')}`);
}
