/** Limits for the style sheets of a page. The style sheets of ordinary emails are far shorter. */
const maxSheetCharacters = 500_000;
const maxRules = 5_000;
const maxSelectorsPerRule = 50;
const maxStepsPerSelector = 10;
const maxNamesPerStep = 5;
const maxRulesPerName = 30;
const maxClassesPerElement = 30;
const maxBlockCharacters = 5_000;
const zeroPattern = /^0+(?:\.0*)?(?:[a-z]+|%)?$/;
/** The values that hide an element, by CSS property. */
const hidingPatterns = {
	display: /^none$/,
	visibility: /^(?:hidden|collapse)$/,
	'max-height': zeroPattern,
	opacity: zeroPattern,
	// Hides only the element's own text, because an element inside may have another size.
	'font-size': zeroPattern,
} as const;
type Property = keyof typeof hidingPatterns;

/** Parts of a rule's weight in the cascade of CSS. Each part outweighs any number of the parts in front of it, and of the rules before it. */
const weights = { tag: 1e4, class: 1e6, id: 1e8, style: 1e10, important: 1e12 };

interface Declaration {
	readonly property: Property;
	readonly isHiding: boolean;
	readonly isImportant: boolean;
}

interface Rule {
	/** The tag, classes and ID that an element must have, such as `td`, `.preheader` and `#top`. */
	readonly names: readonly string[];
	/** Whether the rule depends on surrounding elements. These are not checked, so the rule may show an element but never hide one. */
	readonly dependsOnContext: boolean;
	readonly weight: number;
	readonly declarations: readonly Declaration[];
}

/** Finds out which elements of a page its `style` elements and attributes hide on any screen. */
export class HidingStyles {
	/** Rules, by the last name of their selector. */
	readonly #rules = new Map<string, Rule[]>();
	#ruleCount = 0;
	#characterCount = 0;

	/** @param css the content of a `style` element */
	add(css: string): void {
		const sheet = css.slice(0, Math.max(0, maxSheetCharacters - this.#characterCount));
		this.#characterCount += sheet.length;
		for (const { selectors, block } of splitRules(removeComments(sheet))) {
			if (this.#ruleCount >= maxRules) return;
			const declarations = readDeclarations(block);
			if (declarations.length === 0) continue;
			for (const selector of selectors.split(',', maxSelectorsPerRule)) this.#addRule(selector, declarations);
		}
	}

	#addRule(selector: string, declarations: readonly Declaration[]): void {
		const selectorInBody = selector.trim().replace(/^(?:html\s+)?body\s+/i, '');
		const steps = selectorInBody.split(/[\s>+~]+/, maxStepsPerSelector);
		const names = readNames(steps.at(-1) ?? '');
		const lastName = names.at(-1);
		if (lastName === undefined || selector.includes(':')) return;
		const rules = this.#rules.get(lastName) ?? [];
		this.#rules.set(lastName, rules);
		if (rules.length >= maxRulesPerName) return;
		const dependsOnContext = steps.length > 1;
		const specificity = names.reduce((sum, name) => sum + weights[getNameKind(name)], 0);
		// The names of the surrounding elements count as one class.
		const weight = specificity + (dependsOnContext ? weights.class : 0) + this.#ruleCount;
		this.#ruleCount++;
		rules.push({ names, dependsOnContext, weight, declarations });
	}

	/** @param attributes the attributes of the element, of which `id`, `class` and `style` count */
	getVisibility(tag: string, attributes: ReadonlyMap<string, string>) {
		const get = (name: string) => attributes.get(name) ?? '';
		const classNames = get('class').trim().split(/\s+/, maxClassesPerElement);
		const elementNames = new Set([tag, ...classNames.map((name) => `.${name}`), `#${get('id').trim()}`]);
		const rules: Array<Omit<Rule, 'names'>> = [...elementNames]
			.flatMap((name) => this.#rules.get(name) ?? [])
			.filter(({ names }) => names.every((name) => elementNames.has(name)));
		const style = attributes.get('style');
		if (style !== undefined)
			rules.push({ declarations: readDeclarations(style), weight: weights.style, dependsOnContext: false });
		const winners = new Map<Property, { readonly weight: number; readonly isHiding: boolean }>();
		for (const { declarations, weight, dependsOnContext } of rules)
			for (const { property, isHiding, isImportant } of declarations) {
				const totalWeight = weight + (isImportant ? weights.important : 0);
				const isOutweighed = totalWeight < (winners.get(property)?.weight ?? 0);
				if (isOutweighed || (dependsOnContext && isHiding)) continue;
				winners.set(property, { weight: totalWeight, isHiding });
			}
		const isSizeless = winners.get('font-size')?.isHiding;
		winners.delete('font-size');
		return {
			isHidden: tag !== 'html' && tag !== 'body' && [...winners.values()].some(({ isHiding }) => isHiding),
			/** Whether the font size of the element is 0; undefined if the element has no font size of its own. */
			isSizeless,
		};
	}
}

const getNameKind = (name: string) => (name.startsWith('#') ? 'id' : name.startsWith('.') ? 'class' : 'tag');

/** Reads the names of a selector such as `td.preheader`. @returns no names if it has too many names, or a part that is no name */
function readNames(selector: string): string[] {
	const names = selector.replace('*', '').split(/(?=[.#])/, maxNamesPerStep + 1);
	if (names.length > maxNamesPerStep || !/^(?:[a-z][a-z\d]*|\*)?(?:[.#][\w-]+)*$/i.test(selector)) return [];
	return names.map((name) => (/^[.#]/.test(name) ? name : name.toLowerCase())).filter((name) => name !== '');
}

function readDeclarations(block: string): Declaration[] {
	const text = block.slice(0, maxBlockCharacters).toLowerCase();
	// An animated element may begin with an opacity of 0 and then appear.
	const isAnimated = /(?:^|[;\s-])animation(?:-name)?\s*:/.test(text);
	return text.split(';').flatMap((declaration) => {
		const [name = '', rawValue = ''] = declaration.split(':', 2).map((part) => part.trim());
		const property = name === 'font' ? 'font-size' : name;
		if (!isProperty(property) || (property === 'opacity' && isAnimated)) return [];
		const value = rawValue.replace(/\s*!\s*important$/, '');
		// `font: 0/0 a` begins with the size.
		const isHiding = hidingPatterns[property].test(name === 'font' ? value.replace(/[\s/].*/s, '') : value);
		return { property, isHiding, isImportant: value !== rawValue };
	});
}

const isProperty = (name: string): name is Property => Object.hasOwn(hidingPatterns, name);

/** Removes comments. A comment without an end reaches up to the end of the style sheet. */
const removeComments = (css: string) =>
	css.replaceAll(/<!--|-->/g, ' ').replaceAll(/\/\*[\s\S]*?(?:\*\/|$)/g, ' ');

/** Yields the rules that do not stand in a block such as `@media`. */
function* splitRules(css: string): Generator<{ readonly selectors: string; readonly block: string }> {
	let depth = 0;
	let start = 0;
	let selectors = '';
	for (const { 0: brace, index } of css.matchAll(/[{}]/g)) {
		const previousDepth = depth;
		depth = brace === '{' ? depth + 1 : Math.max(0, depth - 1);
		if (previousDepth > 0 && depth > 0) continue;
		const text = css.slice(start, index);
		start = index + 1;
		// A statement such as `@import` in front of the selectors ends with a semicolon.
		if (brace === '{') selectors = text.slice(text.lastIndexOf(';') + 1).trim();
		else if (previousDepth > 0 && !selectors.startsWith('@')) yield { selectors, block: text };
	}
}
