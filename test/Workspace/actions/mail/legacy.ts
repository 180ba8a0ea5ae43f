const maps = new Map<string, Map<string, Buffer>>();

/** A text as bytes of a charset that Node can only read: by trying what each pair of bytes means. */
export function encoded(text: string, charset: string): Buffer {
	const map = maps.get(charset) ?? reversed(charset);
	maps.set(charset, map);
	return Buffer.concat(
		Array.from(text).map((letter) => {
			const bytes = map.get(letter);
			if (!bytes) throw new Error(`${charset} has no ${letter}`);
			return bytes;
		}),
	);
}

function reversed(charset: string): Map<string, Buffer> {
	const decoder = new TextDecoder(charset);
	const map = new Map<string, Buffer>();
	const add = (...bytes: number[]) => {
		const letters = Array.from(decoder.decode(Buffer.from(bytes)));
		const [letter = ''] = letters;
		if (letters.length === 1 && letter !== '\ufffd' && !map.has(letter))
			map.set(letter, Buffer.from(bytes));
	};
	for (let byte = 0; byte < 0x100; byte++) add(byte);
	for (let lead = 0x81; lead < 0xff; lead++) {
		for (let trail = 0x40; trail < 0xff; trail++) add(lead, trail);
	}
	return map;
}
