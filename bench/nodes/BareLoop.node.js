// The same calls with nothing around them: n8n's own request helper, ten at once. The baseline of
// bench/execute.ts.
const atOnce = 10;

class BareLoop {
	description = {
		displayName: 'Bare Loop',
		name: 'bareLoop',
		group: ['transform'],
		version: 1,
		description: "Calls an agent with n8n's own request helper",
		defaults: { name: 'Bare Loop' },
		inputs: ['main'],
		outputs: ['main'],
		properties: [
			{ displayName: 'URL', name: 'url', type: 'string', default: '' },
			{ displayName: 'API Key', name: 'apiKey', type: 'string', default: '' },
		],
	};

	async execute() {
		const url = this.getNodeParameter('url', 0);
		const headers = { 'x-api-key': this.getNodeParameter('apiKey', 0) };
		const items = this.getInputData();
		const answers = Array(items.length);
		const indexes = items.keys();
		const worker = async () => {
			for (const index of indexes) {
				const { sessionId, step, task, input } = items[index].json;
				const body = {
					sessionId,
					startStepName: step,
					initialPayload: JSON.stringify({ task, input }),
					...{
						userId: '0x01',
						userPublicKey: '0x02',
						signature: '0x03',
						timestamp: Date.now(),
					},
				};
				const json = await this.helpers.httpRequest({
					method: 'POST',
					url,
					headers,
					body,
					json: true,
				});
				answers[index] = { json, pairedItem: { item: index } };
			}
		};
		await Promise.all(Array.from({ length: atOnce }, worker));
		return [answers];
	}
}

module.exports = { BareLoop };
