import { Waits } from '../../../nodes/Agent/AgentSessionTrigger/delivery';

/** What happened, in order. */
let done: string[];
const noted = (what: string) => () => {
	done.push(what);
};

beforeEach(() => {
	done = [];
});

test('the release ends all waits, tidies up once, and nothing waits after it', async () => {
	const waits = new Waits();
	const all = ['a', 'b'].map((name) => waits.until(() => noted(name)));
	waits.release();
	waits.release();
	await Promise.all(all);
	await waits.until(() => noted('late'));
	expect(done).toEqual(['a', 'b']);
});

test('a wait that ends while it begins is tidied up', async () => {
	await new Waits().until((end) => {
		end();
		return noted('tidied');
	});
	expect(done).toEqual(['tidied']);
});

test('a wait that cannot begin is told, and the release ends the others', async () => {
	const waits = new Waits();
	const failing = waits.until(() => {
		throw new Error('no clock');
	});
	await expect(failing).rejects.toThrow('no clock');
	const other = waits.until(() => noted('other'));
	waits.release();
	await other;
	expect(done).toEqual(['other']);
});
