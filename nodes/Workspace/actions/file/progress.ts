import type { Item } from '../../operation';

/** A line in n8n's log at each tenth of the file. */
export function progressLog(item: Item): (sentBytes: number, totalBytes: number) => void {
	let logged = 0;
	return (sentBytes, totalBytes) => {
		const tenth = totalBytes === 0 ? 10 : Math.floor((sentBytes * 10) / totalBytes);
		if (tenth <= logged) return;
		logged = tenth;
		item.log(`Upload of item ${item.index}: ${sentBytes} of ${totalBytes} bytes (${tenth * 10}%)`);
	};
}
