import { refusal } from '../../../../core/failure';
import { named } from '../../../../fields/naming';

export interface Received {
	/** ISO 8601; '' for no limit. */
	readonly receivedAfter: string;
	readonly receivedBefore: string;
}

/** Gmail's search terms for a sender. The text cannot introduce a term of its own. */
export function fromTerm(from: string): string[] {
	const address = /<([^<>]+)>\s*$/.exec(from)?.[1] ?? from;
	// Gmail has no way to escape a quote inside quotes.
	const words = address.replaceAll(/["\s]+/g, ' ').trim();
	return words === '' ? [] : [`from:"${words}"`];
}

/**
 * Terms for the time of arrival, in epoch seconds, because Gmail reads a date without a time as Pacific time.
 * @throws Failure 400 for an empty time span
 */
export function receivedTerms({ receivedAfter, receivedBefore }: Received): string[] {
	if (receivedAfter !== '' && receivedBefore !== '' && receivedAfter >= receivedBefore) {
		throw refusal(
			`${named('receivedAfter')} is not before ${named('receivedBefore')}`,
			'No email can match. Swap the two times.',
		);
	}
	const seconds = (time: string) => Math.ceil(Date.parse(time) / 1000);
	return [
		...(receivedAfter === '' ? [] : [`after:${seconds(receivedAfter)}`]),
		...(receivedBefore === '' ? [] : [`before:${seconds(receivedBefore)}`]),
	];
}
