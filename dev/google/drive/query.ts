import type { StoredFile } from '../files.ts';
import { ApiError } from '../service.ts';

/** Decides whether a file matches the search. */
export type Matches = (file: StoredFile) => boolean;

const tokenPattern = /\s*(?:'((?:\\.|[^'\\])*)'|(>=|<=|!=|[=<>(){}])|([A-Za-z]+))/y;

type Token = { readonly text: string } | { readonly word: string };

/**
 * Parses Drive's search language, as far as this project's clients use it: `and`, `or`, `not`, parentheses; name,
 * mimeType, trashed, parents, properties, appProperties.
 * @throws ApiError 400 for everything else, in Drive's words
 */
export function parseQuery(q: string): Matches {
	if (q.trim() === '') return () => true;
	const parser = new Parser(tokenize(q));
	const matches = parser.parseAny();
	parser.expectEnd();
	return matches;
}

function tokenize(q: string): Token[] {
	const tokens: Token[] = [];
	tokenPattern.lastIndex = 0;
	while (tokenPattern.lastIndex < q.trimEnd().length) {
		const match = tokenPattern.exec(q);
		if (match === null) throw createQueryError();
		const [, text, sign, word] = match;
		if (text !== undefined) tokens.push({ text: text.replace(/\\(.)/g, '$1') });
		else tokens.push({ word: sign ?? word ?? '' });
	}
	return tokens;
}

function createQueryError(): ApiError {
	return new ApiError(400, 'Invalid Value', { reason: 'invalid' });
}

class Parser {
	private at = 0;
	private readonly tokens: readonly Token[];

	constructor(tokens: readonly Token[]) {
		this.tokens = tokens;
	}

	expectEnd(): void {
		if (this.at !== this.tokens.length) throw createQueryError();
	}

	parseAny(): Matches {
		const terms = [this.parseAll()];
		while (this.takeIf('or')) terms.push(this.parseAll());
		return (file) => terms.some((term) => term(file));
	}

	private parseAll(): Matches {
		const terms = [this.parseTerm()];
		while (this.takeIf('and')) terms.push(this.parseTerm());
		return (file) => terms.every((term) => term(file));
	}

	private parseTerm(): Matches {
		if (this.takeIf('not')) {
			const inner = this.parseTerm();
			return (file) => !inner(file);
		}
		if (this.takeIf('(')) {
			const inner = this.parseAny();
			this.expect(')');
			return inner;
		}
		const token = this.takeToken();
		return 'text' in token ? this.parseParentTerm(token.text) : this.parseFieldTerm(token.word);
	}

	private parseParentTerm(id: string): Matches {
		this.expect('in');
		this.expect('parents');
		return ({ parents }) => parents.includes(id);
	}

	private parseFieldTerm(field: string): Matches {
		if (field === 'properties' || field === 'appProperties')
			return this.parsePropertyTerm(field);
		const sign = this.takeWord();
		if (field === 'trashed') return this.parseTrashedTerm(sign);
		if (field !== 'name' && field !== 'mimeType') throw createQueryError();
		const compare = comparisons[sign];
		if (compare === undefined) throw createQueryError();
		const value = this.takeText();
		return (file) => compare(file[field], value);
	}

	private parseTrashedTerm(sign: string): Matches {
		const value = this.takeWord();
		if ((sign !== '=' && sign !== '!=') || (value !== 'true' && value !== 'false'))
			throw createQueryError();
		const expectedValue = (value === 'true') === (sign === '=');
		return ({ trashed }) => trashed === expectedValue;
	}

	private parsePropertyTerm(field: 'properties' | 'appProperties'): Matches {
		for (const word of ['has', '{', 'key', '=']) this.expect(word);
		const key = this.takeText();
		for (const word of ['and', 'value', '=']) this.expect(word);
		const value = this.takeText();
		this.expect('}');
		return (file) => file[field][key] === value;
	}

	private takeToken(): Token {
		const token = this.tokens[this.at++];
		if (token === undefined) throw createQueryError();
		return token;
	}

	private takeWord(): string {
		const token = this.takeToken();
		if ('text' in token) throw createQueryError();
		return token.word;
	}

	private takeText(): string {
		const token = this.takeToken();
		if ('word' in token) throw createQueryError();
		return token.text;
	}

	private takeIf(word: string): boolean {
		const token = this.tokens[this.at];
		const isMatch = token !== undefined && 'word' in token && token.word === word;
		if (isMatch) this.at++;
		return isMatch;
	}

	private expect(word: string): void {
		if (!this.takeIf(word)) throw createQueryError();
	}
}

const comparisons: Readonly<Record<string, (value: string, searchText: string) => boolean>> = {
	'=': (value, wanted) => value === wanted,
	'!=': (value, wanted) => value !== wanted,
	contains: (value, wanted) => startsAWord(value.toLowerCase(), wanted.toLowerCase()),
};

/** `contains` matches only the beginnings of words: `World` is not found in `HelloWorld`. */
function startsAWord(value: string, searchText: string): boolean {
	let position = value.indexOf(searchText);
	while (position > 0 && /[\p{L}\p{N}]/u.test(value.charAt(position - 1)))
		position = value.indexOf(searchText, position + 1);
	return position !== -1;
}
