import { earlierTurnsOf } from '../../../nodes/Agent/AgentExecute/earlierTurns';

let conversations = 0;
const conversation = () => `conversation ${++conversations}`;

test('what was repeated is remembered once', () => {
	const session = conversation();
	earlierTurnsOf(session).remember(['a', 'b']);
	earlierTurnsOf(session).remember(['a', 'b', 'c']);
	earlierTurnsOf(session).remember(['c', 'd']);
	expect(earlierTurnsOf(session).digests).toEqual(['a', 'b', 'c', 'd']);
	expect(earlierTurnsOf(conversation()).digests).toEqual([]);
});

test('of a long session the end is remembered', () => {
	const session = conversation();
	earlierTurnsOf(session).remember(Array.from({ length: 1500 }, (_, n) => `${n}`));
	const { digests } = earlierTurnsOf(session);
	expect([digests.length, digests[0], digests.at(-1)]).toEqual([1000, '500', '1499']);
});

test('of many sessions those used last are remembered', () => {
	const thousand = Array.from({ length: 1000 }, (_, n) => `${n}`);
	const [first, ...others] = Array.from({ length: 51 }, conversation);
	for (const session of [first ?? '', ...others]) earlierTurnsOf(session).remember(thousand);
	expect(earlierTurnsOf(first ?? '').digests).toEqual([]);
	for (const session of others) expect(earlierTurnsOf(session).digests).toHaveLength(1000);
	earlierTurnsOf(others[0] ?? '').remember(['new']);
	earlierTurnsOf(conversation()).remember(thousand);
	expect(earlierTurnsOf(others[0] ?? '').digests).toHaveLength(1000);
	expect(earlierTurnsOf(others[1] ?? '').digests).toEqual([]);
});
