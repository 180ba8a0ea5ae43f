// The stand-in with a full mailbox, in a separate process so that n8n does not wait for it.
import { startGoogle } from '../dev/google/server.ts';

import type { QuotaLimits } from '../dev/google/quotas.ts';

const [mailCount = 0, latencyMilliseconds = 0] = process.argv.slice(2).map(Number);

// n8n's own Gmail node sends requests that the contract does not know.
const google = await startGoogle({ tolerant: true, latencyMilliseconds });
google.tokens.issue({ token: 'bench' });
for (let number = 0; number < mailCount; number++) {
	google.gmail.seed({
		from: `Sender ${number} <sender${number}@example.com>`,
		subject: `Mail number ${number} – Übersicht`,
		text: `The text of mail ${number}. `.repeat(40),
		date: new Date(Date.UTC(2026, 0, 1) + number * 60_000),
	});
}
process.once('disconnect', () => void google.close());
process.on('message', (limits: QuotaLimits | 'requests') => {
	if (limits !== 'requests') {
		google.quotas.clear();
		google.quotas.limits = limits;
	}
	process.send?.({ requests: google.requests.length, refused: google.quotas.refused });
});
process.send?.({ url: google.url });
