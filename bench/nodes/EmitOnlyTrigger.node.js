// The cost of a trigger that only calls `emit`: no limit, no queue, no reconnecting. The baseline of
// bench/channel.ts.

/** How long a batch that is not full waits for more messages. */
const batchWaitMilliseconds = 50;

class EmitOnlyTrigger {
	description = {
		displayName: 'Emit Only Trigger',
		name: 'emitOnlyTrigger',
		group: ['trigger'],
		version: 1,
		description: 'Emits the messages of a WebSocket',
		defaults: { name: 'Emit Only Trigger' },
		inputs: [],
		outputs: ['main'],
		properties: [
			{ displayName: 'URL', name: 'url', type: 'string', default: '' },
			{ displayName: 'Batch Size', name: 'batchSize', type: 'number', default: 1 },
		],
	};

	async trigger() {
		const WebSocket = require(process.env.BENCH_WS);
		const batchSize = this.getNodeParameter('batchSize');
		const socket = new WebSocket(this.getNodeParameter('url'), { perMessageDeflate: false });
		let items = [];
		let timer;
		const emit = () => {
			clearTimeout(timer);
			const batch = items;
			items = [];
			this.emit([batch]);
		};
		socket.on('error', () => {});
		socket.on('message', (data) => {
			items.push({
				json: {
					receivedAt: new Date().toISOString(),
					message: JSON.parse(data.toString()),
				},
			});
			if (items.length === batchSize) emit();
			else if (items.length === 1) timer = setTimeout(emit, batchWaitMilliseconds);
		});
		return {
			closeFunction: async () => {
				clearTimeout(timer);
				socket.terminate();
			},
		};
	}
}

module.exports = { EmitOnlyTrigger };
