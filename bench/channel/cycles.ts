import { reportRatio } from '../n8n.ts';
import { withStation } from './station.ts';
import { pause } from './waiting.ts';

export async function cycles(): Promise<void> {
	await withStation(async (station) => {
		const workflow = await station.ours('cycles');
		for (let n = 0; n < 100; n++) {
			await station.n8n.api.deactivate(workflow);
			await station.n8n.api.activate(workflow);
		}
		await station.n8n.api.deactivate(workflow);
		await pause(1000);
		reportRatio('open sockets after 100 times on and off', station.service.openSockets(), { atMost: 0 });
	});
}
