/** A token of an address list, as defined by RFC 5322. */
export interface Token {
	/**
	 * `word`: a run of other characters. `broken`: quotes or brackets that are never closed, up to the end of
	 * the line.
	 */
	readonly kind: 'word' | 'quoted' | 'comment' | 'angle' | 'comma' | 'space' | 'line' | 'broken';
	/** The source text, including quotes or brackets. */
	readonly raw: string;
}

/**
 * Splits a text into tokens in one pass: each character is examined a fixed number of times, whatever the
 * input.
 */
export function tokensOf(text: string): Token[] {
	const tokens: Token[] = [];
	for (let at = 0; at < text.length;) {
		const token = tokenAt(text, at);
		tokens.push(token);
		at += token.raw.length;
	}
	return tokens;
}

function tokenAt(text: string, at: number): Token {
	switch (text[at]) {
		case '"':
			return enclosed('quoted', text, at, quotedEnd(text, at));
		case '(':
			return enclosed('comment', text, at, commentEnd(text, at));
		case '<':
			return enclosed('angle', text, at, angleEnd(text, at));
		case ',':
			return { kind: 'comma', raw: ',' };
		default:
			return runAt(text, at);
	}
}

const runs = [
	['space', /[ \t]+/y],
	['line', /[\r\n]+/y],
	['word', /[^"(<,\r\n \t]+/y],
] as const;

function runAt(text: string, at: number): Token {
	for (const [kind, run] of runs) {
		run.lastIndex = at;
		const raw = run.exec(text)?.[0];
		if (raw !== undefined) return { kind, raw };
	}
	// Not reached: every character begins one of the kinds above.
	return { kind: 'broken', raw: text.slice(at) };
}

function enclosed(kind: Token['kind'], text: string, at: number, end: number | undefined): Token {
	if (end !== undefined) return { kind, raw: text.slice(at, end) };
	const line = /[\r\n]|$/g;
	line.lastIndex = at;
	return { kind: 'broken', raw: text.slice(at, line.exec(text)?.index) };
}

/** Position after the closing quote; undefined if the line ends before it. */
function quotedEnd(text: string, at: number): number | undefined {
	for (let end = at + 1; end < text.length; end++) {
		const character = text[end];
		if (character === '"') return end + 1;
		if (isLineEnd(character)) return undefined;
		if (character === '\\') end++;
	}
	return undefined;
}

/** Position after the closing parenthesis. Comments may be nested. */
function commentEnd(text: string, at: number): number | undefined {
	let depth = 0;
	for (let end = at; end < text.length; end++) {
		const character = text[end];
		if (isLineEnd(character)) return undefined;
		if (character === '\\') end++;
		else if (character === '(') depth++;
		else if (character === ')' && --depth === 0) return end + 1;
	}
	return undefined;
}

function angleEnd(text: string, at: number): number | undefined {
	for (let end = at + 1; end < text.length; end++) {
		const character = text[end];
		if (character === '>') return end + 1;
		if (character === '<' || isLineEnd(character)) return undefined;
		if (character === '"') {
			const quoted = quotedEnd(text, end);
			if (quoted === undefined) return undefined;
			end = quoted - 1;
		}
	}
	return undefined;
}

function isLineEnd(character: string | undefined): boolean {
	return character === '\n' || character === '\r';
}
