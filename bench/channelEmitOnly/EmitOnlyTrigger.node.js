// What a trigger costs that only calls `emit`: no bound, no queue, no reconnect. The yardstick of bench/channel.ts.
const WebSocket = require(process.env.BENCH_WS);

class EmitOnlyTrigger {
	description = {
		displayName: 'Emit Only Trigger',
		name: 'emitOnlyTrigger',
		group: ['trigger'],
		version: 1,
		description: 'Emits each message of a WebSocket',
		defaults: { name: 'Emit Only Trigger' },
		inputs: [],
		outputs: ['main'],
		properties: [{ displayName: 'URL', name: 'url', type: 'string', default: '' }],
	};

	async trigger() {
		const socket = new WebSocket(this.getNodeParameter('url'), { perMessageDeflate: false });
		socket.on('error', () => {});
		socket.on('message', (data) => {
			const message = JSON.parse(data.toString());
			this.emit([[{ json: { receivedAt: new Date().toISOString(), message } }]]);
		});
		return { closeFunction: async () => socket.terminate() };
	}
}

module.exports = { EmitOnlyTrigger };
