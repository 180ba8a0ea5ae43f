import type { StoredFile } from '../files.ts';
import { ApiError } from '../service.ts';

/** Decides whether a file matches the search. */
export type Matches = (file: StoredFile) => boolean;

const tokenPattern = /\s*(?:'((?:\\.|[^'\\])*)'|(>=|<=|!=|[=<>(){}])|([A-Za-z]+))/y;

type Token = { readonly text: string } | { readonly word: string };

/**
 * Drive's search language, as far as this project's clients use it: `and`, `or`, `not`, parentheses; name,
 * mimeType, trashed, parents, properties, appProperties.
 * @throws ApiError 400 for everything else, in Drive's words
 */
export function parseQuery(q: string): Matches {
	if (q.trim() === '') return () => true;
	const parser = new Parser(tokensOf(q));
	const matches = parser.anyOf();
	parser.end();
	return matches;
}

function tokensOf(q: string): Token[] {
	const tokens: Token[] = [];
	tokenPattern.lastIndex = 0;
	while (tokenPattern.lastIndex < q.trimEnd().length) {
		const match = tokenPattern.exec(q);
		if (match === null) throw invalid();
		const [, text, sign, word] = match;
		if (text !== undefined) tokens.push({ text: text.replace(/\\(.)/g, '$1') });
		else tokens.push({ word: sign ?? word ?? '' });
	}
	return tokens;
}

function invalid(): ApiError {
	return new ApiError(400, 'Invalid Value', { reason: 'invalid' });
}

class Parser {
	private at = 0;
	private readonly tokens: readonly Token[];

	constructor(tokens: readonly Token[]) {
		this.tokens = tokens;
	}

	end(): void {
		if (this.at !== this.tokens.length) throw invalid();
	}

	anyOf(): Matches {
		const terms = [this.allOf()];
		while (this.took('or')) terms.push(this.allOf());
		return (file) => terms.some((term) => term(file));
	}

	private allOf(): Matches {
		const terms = [this.term()];
		while (this.took('and')) terms.push(this.term());
		return (file) => terms.every((term) => term(file));
	}

	private term(): Matches {
		if (this.took('not')) {
			const inner = this.term();
			return (file) => !inner(file);
		}
		if (this.took('(')) {
			const inner = this.anyOf();
			this.expect(')');
			return inner;
		}
		const token = this.next();
		return 'text' in token ? this.parentTerm(token.text) : this.fieldTerm(token.word);
	}

	private parentTerm(id: string): Matches {
		this.expect('in');
		this.expect('parents');
		return ({ parents }) => parents.includes(id);
	}

	private fieldTerm(field: string): Matches {
		if (field === 'properties' || field === 'appProperties') return this.propertyTerm(field);
		const sign = this.word();
		if (field === 'trashed') return this.trashedTerm(sign);
		if (field !== 'name' && field !== 'mimeType') throw invalid();
		const compare = comparisons[sign];
		if (compare === undefined) throw invalid();
		const value = this.text();
		return (file) => compare(file[field], value);
	}

	private trashedTerm(sign: string): Matches {
		const value = this.word();
		if ((sign !== '=' && sign !== '!=') || (value !== 'true' && value !== 'false')) throw invalid();
		const expectedValue = (value === 'true') === (sign === '=');
		return ({ trashed }) => trashed === expectedValue;
	}

	private propertyTerm(field: 'properties' | 'appProperties'): Matches {
		for (const word of ['has', '{', 'key', '=']) this.expect(word);
		const key = this.text();
		for (const word of ['and', 'value', '=']) this.expect(word);
		const value = this.text();
		this.expect('}');
		return (file) => file[field][key] === value;
	}

	private next(): Token {
		const token = this.tokens[this.at++];
		if (token === undefined) throw invalid();
		return token;
	}

	private word(): string {
		const token = this.next();
		if ('text' in token) throw invalid();
		return token.word;
	}

	private text(): string {
		const token = this.next();
		if ('word' in token) throw invalid();
		return token.text;
	}

	private took(word: string): boolean {
		const token = this.tokens[this.at];
		const isMatch = token !== undefined && 'word' in token && token.word === word;
		if (isMatch) this.at++;
		return isMatch;
	}

	private expect(word: string): void {
		if (!this.took(word)) throw invalid();
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
