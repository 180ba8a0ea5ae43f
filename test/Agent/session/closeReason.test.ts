import {
	type CloseReason,
	signOf,
	type RetryDecision,
	retryDecisionOf,
} from '../../../nodes/Agent/session/closeReason';

const answer = (statusCode: number): CloseReason => ({
	kind: 'answer',
	answer: {
		statusCode,
		retryAfter: undefined,
		date: undefined,
		location: undefined,
		contentType: undefined,
		body: '',
	},
});
const close = (code: number): CloseReason => ({ kind: 'closeFrame', code, reason: '' });
const network = (code: string): CloseReason => ({ kind: 'network', code, message: '' });
const tooLarge: CloseReason = { kind: 'tooLarge', maxMessageBytes: 1 };
const malformed: CloseReason = { kind: 'malformed', code: 'WS_ERR_INVALID_UTF8' };

/** What it is called; the ending; the verdict the first time; the verdict when the same comes again. */
const table: [string, CloseReason, RetryDecision, RetryDecision][] = [
	...[408, 425, 429, 500, 501, 502, 503, 504, 599].map(
		(status): [string, CloseReason, RetryDecision, RetryDecision] => [
			`status ${status}`,
			answer(status),
			'retry',
			'retry',
		],
	),
	...[200, 299, 400, 401, 403, 404, 405, 410, 426, 451].map(
		(status): [string, CloseReason, RetryDecision, RetryDecision] => [
			`status ${status}`,
			answer(status),
			'suspect',
			'final',
		],
	),
	...[300, 301, 302, 307, 308, 399].map((status): [string, CloseReason, RetryDecision, RetryDecision] => [
		`status ${status}`,
		answer(status),
		'final',
		'final',
	]),
	...[1000, 1001, 1005, 1011, 1012, 1013, 1014, 1015, 3000, 4000, 4399, 4500, 4999].map(
		(code): [string, CloseReason, RetryDecision, RetryDecision] => [
			`close ${code}`,
			close(code),
			'retry',
			'retry',
		],
	),
	...[1002, 1003, 1007, 1008, 1010].map((code): [string, CloseReason, RetryDecision, RetryDecision] => [
		`close ${code}`,
		close(code),
		'final',
		'final',
	]),
	...[4400, 4401, 4403, 4404, 4499].map((code): [string, CloseReason, RetryDecision, RetryDecision] => [
		`close ${code}`,
		close(code),
		'suspect',
		'final',
	]),
	...[4408, 4425, 4429].map((code): [string, CloseReason, RetryDecision, RetryDecision] => [
		`close ${code}`,
		close(code),
		'retry',
		'retry',
	]),
	['no close frame', { kind: 'dropped' }, 'retry', 'retry'],
	['refused connection', network('ECONNREFUSED'), 'retry', 'retry'],
	['unknown host', network('ENOTFOUND'), 'retry', 'retry'],
	['untrusted certificate', network('DEPTH_ZERO_SELF_SIGNED_CERT'), 'retry', 'retry'],
	['not open in time', { kind: 'connectTimeout' }, 'retry', 'retry'],
	['no answer to pings', { kind: 'silent', milliseconds: 45_000 }, 'retry', 'retry'],
	['a mistake in the credentials', { kind: 'credentials', message: '', isMistake: true }, 'final', 'final'],
	['what n8n does not allow', { kind: 'blocked' }, 'final', 'final'],
	['unreadable credentials', { kind: 'credentials', message: '', isMistake: false }, 'retry', 'retry'],
];

describe('retryDecisionOf', () => {
	const usual = { faultyFrames: 0 };

	it.each(table)('%s', (_name, closeReason, first, again) => {
		expect(retryDecisionOf(closeReason, { ...usual, suspected: undefined }, [])).toBe(first);
		expect(retryDecisionOf(closeReason, { ...usual, suspected: signOf(closeReason) }, [])).toBe(again);
	});

	it.each([
		['close 1009', close(1009)],
		['a message too large', tooLarge],
		['a malformed message', malformed],
	])('%s is final when it is the third in a row', (_name, closeReason) => {
		const verdicts = [1, 2, 3, 4].map((faultyFrames) =>
			retryDecisionOf(closeReason, { suspected: undefined, faultyFrames }, []),
		);
		expect(verdicts).toEqual(['retry', 'retry', 'final', 'final']);
	});

	it.each([
		[answer(403), answer(401)],
		[close(4401), answer(401)],
		[close(4403), close(4401)],
	])('another refusal than the suspected one is suspect, not final: %j', (closeReason, before) => {
		expect(retryDecisionOf(closeReason, { ...usual, suspected: signOf(before) }, [])).toBe('suspect');
	});

	it.each([1000, 4000, 4429])("takes the user's close code %i as final", (code) => {
		expect(retryDecisionOf(close(code), { ...usual, suspected: undefined }, [3999, code])).toBe('final');
	});
});
