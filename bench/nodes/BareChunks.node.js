// n8n's own relay of chunks: a node that only sends the time of day. The baseline of bench/stream.ts.
class BareChunks {
	description = {
		displayName: 'Bare Chunks',
		name: 'bareChunks',
		group: ['transform'],
		version: 1,
		description: 'Sends chunks',
		defaults: { name: 'Bare Chunks' },
		inputs: ['main'],
		outputs: ['main'],
		properties: [],
	};

	async execute() {
		await this.sendChunk('begin', 0);
		for (let count = 0; count < 5; count++) {
			await this.sendChunk('item', 0, String(Date.now()));
			await new Promise((resolve) => setTimeout(resolve, 100));
		}
		await this.sendChunk('end', 0);
		return [this.getInputData()];
	}
}

module.exports = { BareChunks };
