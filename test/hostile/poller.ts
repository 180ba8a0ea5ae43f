// Asks a URL ten times a second until its input ends, then tells how long each answer took. It is a program of its own,
// so that the time which the tests need for themselves does not count.
const [url = ''] = process.argv.slice(2);
const intervalMilliseconds = 100;
const giveUpMilliseconds = 30_000;

export interface Poll {
	/** Milliseconds since 1970. */
	readonly at: number;
	readonly took: number;
	readonly trouble?: string;
}

const slowest: Poll[] = [];
let count = 0;
let ended = false;

async function poll(): Promise<void> {
	const at = Date.now();
	const begun = performance.now();
	const signal = AbortSignal.timeout(giveUpMilliseconds);
	// n8n closes connections that were idle for 5 s, also while it had no time for the next call.
	const trouble = await fetch(url, { signal, headers: { connection: 'close' } }).then(
		async (answer) => {
			await answer.text();
			return answer.ok ? undefined : String(answer.status);
		},
		(error: unknown) => String(error),
	);
	count++;
	slowest.push({
		at,
		took: Math.round(performance.now() - begun),
		...(trouble !== undefined && { trouble }),
	});
	slowest.sort(
		(one, other) =>
			Number(other.trouble !== undefined) - Number(one.trouble !== undefined) ||
			other.took - one.took,
	);
	slowest.splice(20);
}

async function main(): Promise<void> {
	while (!ended) {
		await poll();
		await new Promise((resolve) => setTimeout(resolve, intervalMilliseconds));
	}
	process.stdout.write(JSON.stringify({ count, slowest }));
}

process.stdin.resume();
process.stdin.on('end', () => (ended = true));
void main();
