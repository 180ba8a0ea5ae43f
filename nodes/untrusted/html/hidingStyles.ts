/** How much is read of the style sheets of a page, which are far shorter. */
const maxSheetCharacters = 500_000;
const maxRules = 5_000;
const maxSelectors = 50;
const maxRulesPerName = 30;
const maxClasses = 30;
const maxBlockCharacters = 5_000;

const zero = /^0+(?:\.0*)?(?:[a-z]+|%)?$/;
/** The values with which an element is not seen, by property. */
const unseenValues = {
	display: /^none$/,
	visibility: /^(?:hidden|collapse)$/,
	'max-height': zero,
	opacity: zero,
	// This hides only its own text: an element inside may have another size.
	'font-size': zero,
} as const;
type Property = keyof typeof unseenValues;

/** Weights in the order of importance: each outweighs any number of those before it. */
const weights = { order: 1, tag: 1e4, class: 1e6, id: 1e8, style: 1e10, important: 1e12 };

interface Declaration {
	readonly property: Property;
	readonly isUnseen: boolean;
	readonly isImportant: boolean;
}

interface Rule {
	/** Such as `td`, `.preheader` and `#top`. */
	readonly names: readonly string[];
	/** Whether the rule depends on surrounding elements, which are not checked: it may undo what another rule hides, but hides nothing. */
	readonly isPartial: boolean;
	readonly weight: number;
	readonly declarations: readonly Declaration[];
}

/** What the `style` elements of a page hide on any screen. */
export class HidingStyles {
	/** Rules by the last name of their selector. */
	readonly #rules = new Map<string, Rule[]>();
	#count = 0;
	#characters = 0;

	/** @param css the content of a `style` element */
	add(css: string): void {
		const taken = css.slice(0, Math.max(0, maxSheetCharacters - this.#characters));
		this.#characters += taken.length;
		for (const { selectors, block } of splitRules(removeComments(taken))) {
			if (this.#count >= maxRules) return;
			const declarations = readDeclarations(block);
			if (declarations.length === 0) continue;
			for (const selector of selectors.split(',', maxSelectors)) this.#addRule(selector, declarations);
		}
	}

	#addRule(selector: string, declarations: readonly Declaration[]): void {
		const inBody = selector.trim().replace(/^(?:html\s+)?body\s+/i, '');
		const steps = inBody.split(/[\s>+~]+/, 10);
		const names = readNames(steps.at(-1) ?? '');
		const last = names.at(-1);
		if (last === undefined || selector.includes(':')) return;
		const rules = this.#rules.get(last) ?? [];
		this.#rules.set(last, rules);
		if (rules.length >= maxRulesPerName) return;
		const isPartial = steps.length > 1;
		const own = names.reduce((sum, name) => sum + weights[getNameKind(name)], 0);
		const weight = own + this.#count++ + (isPartial ? weights.class : 0);
		rules.push({ names, isPartial, weight, declarations });
	}

	/** @param style the element's own, which outweighs all but what is important */
	find(tag: string, id: string, classes: string, style: string) {
		const classNames = classes.trim().split(/\s+/, maxClasses);
		const has = new Set([tag, ...classNames.map((name) => `.${name}`), `#${id.trim()}`]);
		const winners = new Map<Property, { readonly weight: number; readonly isUnseen: boolean }>();
		const take = (declarations: readonly Declaration[], weight: number, isPartial = false) => {
			for (const { property, isUnseen, isImportant } of declarations) {
				const own = weight + (isImportant ? weights.important : 0);
				if (own < (winners.get(property)?.weight ?? 0) || (isPartial && isUnseen)) continue;
				winners.set(property, { weight: own, isUnseen });
			}
		};
		for (const rule of [...has].flatMap((name) => this.#rules.get(name) ?? [])) {
			if (rule.names.every((name) => has.has(name))) take(rule.declarations, rule.weight, rule.isPartial);
		}
		if (style !== '') take(readDeclarations(style), weights.style);
		const isSizeless = winners.get('font-size')?.isUnseen;
		winners.delete('font-size');
		return {
			isHidden: tag !== 'html' && tag !== 'body' && [...winners.values()].some(({ isUnseen }) => isUnseen),
			/** Whether the element's own text has no size; undefined if it has the size of the text around it. */
			isSizeless,
		};
	}
}

const getNameKind = (name: string) => (name.startsWith('#') ? 'id' : name.startsWith('.') ? 'class' : 'tag');

/** The names of a selector such as `td.preheader`; none if it has anything else, such as an attribute. */
function readNames(selector: string): string[] {
	if (!/^(?:[a-z][a-z\d]*|\*)?(?:[.#][\w-]+)*$/i.test(selector)) return [];
	const names = selector.replace('*', '').split(/(?=[.#])/, 5);
	return names.map((name) => (/^[.#]/.test(name) ? name : name.toLowerCase())).filter((name) => name !== '');
}

function readDeclarations(block: string): Declaration[] {
	// An animated element does not stay as it begins.
	const taken = block.slice(0, maxBlockCharacters).toLowerCase();
	const isMoving = /(?:^|[;\s-])animation(?:-name)?\s*:/.test(taken);
	return taken.split(';').flatMap((declaration) => {
		const [name = '', given = ''] = declaration.split(':', 2).map((part) => part.trim());
		const property = name === 'font' ? 'font-size' : name;
		if (!isProperty(property) || (property === 'opacity' && isMoving)) return [];
		const value = given.replace(/\s*!\s*important$/, '');
		const isUnseen = unseenValues[property].test(name === 'font' ? value.replace(/[\s/].*/s, '') : value);
		return { property, isUnseen, isImportant: value !== given };
	});
}

const isProperty = (name: string): name is Property => Object.hasOwn(unseenValues, name);

/** A comment that does not end goes up to the end. */
const removeComments = (css: string) =>
	css.replaceAll(/<!--|-->/g, ' ').replaceAll(/\/\*[\s\S]*?(?:\*\/|$)/g, ' ');

/** The rules outside of blocks such as `@media`. */
function* splitRules(css: string): Generator<{ readonly selectors: string; readonly block: string }> {
	let [depth, start, selectors] = [0, 0, ''];
	for (const { 0: brace, index } of css.matchAll(/[{}]/g)) {
		if (brace === '{' && depth++ === 0) {
			// A statement such as `@import` ends with a semicolon.
			const before = css.slice(start, index);
			selectors = before.slice(before.lastIndexOf(';') + 1).trim();
			start = index + 1;
		} else if (brace === '}' && depth > 0 && --depth === 0) {
			if (!selectors.startsWith('@')) yield { selectors, block: css.slice(start, index) };
			start = index + 1;
		} else if (depth === 0) start = index + 1;
	}
}
