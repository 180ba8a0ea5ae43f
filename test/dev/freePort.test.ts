test('no process gets a port that another one got and does not use yet', async () => {
	const ports: number[] = [];
	for (let round = 0; round < 5; round++) {
		await jest.isolateModulesAsync(async () => {
			const { freePort } = await import('../../dev/n8n/startN8n');
			for (let count = 0; count < 100; count++) ports.push(await freePort());
		});
	}
	expect(new Set(ports).size).toBe(ports.length);
});
