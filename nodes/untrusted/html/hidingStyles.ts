/** Limits for the style sheets of a page. The style sheets of ordinary emails are far shorter. */
const maxSheetCharacters = 500_000;
const maxRules = 5_000;
const maxSelectorsPerRule = 50;
const maxCompoundsPerSelector = 10;
const maxSelectorsPerCompound = 5;
const maxRulesPerSelector = 30;
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

/** CSS specificity and rule order as one number: order < tag < class < id < style attribute < !important. The factors fit the limits above. */
const precedences = { tag: 1e4, class: 1e6, id: 1e8, style: 1e10, important: 1e12 };

interface Declaration {
	readonly property: Property;
	readonly isHiding: boolean;
	readonly isImportant: boolean;
}

interface Rule {
	/** The simple selectors of the last compound selector: the tag, classes and ID that an element must have, such as `td` and `.preheader`. */
	readonly simpleSelectors: readonly string[];
	/** Whether the rule depends on surrounding elements. These are not checked, so the rule may show an element but never hide one. */
	readonly dependsOnContext: boolean;
	readonly precedence: number;
	readonly declarations: readonly Declaration[];
}

/** Finds out which elements of a page its `style` elements and attributes hide on any screen. */
export class HidingStyles {
	/** Rules, by the last of their simple selectors. */
	readonly #rules = new Map<string, Rule[]>();
	#ruleCount = 0;
	#characterCount = 0;

	/** @param css the content of a `style` element */
	addStyleSheet(css: string): void {
		const sheet = css.slice(0, Math.max(0, maxSheetCharacters - this.#characterCount));
		this.#characterCount += sheet.length;
		for (const { selectors, block } of splitRules(removeComments(sheet))) {
			if (this.#ruleCount >= maxRules) return;
			const declarations = readDeclarations(block);
			if (declarations.length === 0) continue;
			for (const selector of selectors.split(',', maxSelectorsPerRule))
				this.#addRule(selector, declarations);
		}
	}

	#addRule(selector: string, declarations: readonly Declaration[]): void {
		const selectorInBody = selector.trim().replace(/^(?:html\s+)?body\s+/i, '');
		const compounds = selectorInBody.split(/[\s>+~]+/, maxCompoundsPerSelector);
		const simpleSelectors = splitCompound(compounds.at(-1) ?? '');
		const lastSelector = simpleSelectors.at(-1);
		if (lastSelector === undefined || selector.includes(':')) return;
		const rules = this.#rules.get(lastSelector) ?? [];
		this.#rules.set(lastSelector, rules);
		if (rules.length >= maxRulesPerSelector) return;
		const dependsOnContext = compounds.length > 1;
		const specificity = simpleSelectors.reduce(
			(sum, simple) => sum + precedences[getKind(simple)],
			0,
		);
		// The selectors of the surrounding elements count as one class.
		const precedence =
			specificity + (dependsOnContext ? precedences.class : 0) + this.#ruleCount;
		this.#ruleCount++;
		rules.push({ simpleSelectors, dependsOnContext, precedence, declarations });
	}

	/** @param attributes the attributes of the element, of which `id`, `class` and `style` count */
	getVisibility(tag: string, attributes: ReadonlyMap<string, string>) {
		const get = (name: string) => attributes.get(name) ?? '';
		const classNames = get('class').trim().split(/\s+/, maxClassesPerElement);
		const matchingSelectors = new Set([
			tag,
			...classNames.map((name) => `.${name}`),
			`#${get('id').trim()}`,
		]);
		const rules: Array<Omit<Rule, 'simpleSelectors'>> = [...matchingSelectors]
			.flatMap((simple) => this.#rules.get(simple) ?? [])
			.filter(({ simpleSelectors }) =>
				simpleSelectors.every((simple) => matchingSelectors.has(simple)),
			);
		const style = attributes.get('style');
		const attributeRule = { precedence: precedences.style, dependsOnContext: false };
		if (style !== undefined)
			rules.push({ ...attributeRule, declarations: readDeclarations(style) });
		const winners = new Map<
			Property,
			{ readonly precedence: number; readonly isHiding: boolean }
		>();
		for (const { declarations, precedence: rulePrecedence, dependsOnContext } of rules)
			for (const { property, isHiding, isImportant } of declarations) {
				const precedence = rulePrecedence + (isImportant ? precedences.important : 0);
				const isOverridden = precedence < (winners.get(property)?.precedence ?? 0);
				if (isOverridden || (dependsOnContext && isHiding)) continue;
				winners.set(property, { precedence, isHiding });
			}
		const fontSize = winners.get('font-size');
		winners.delete('font-size');
		return {
			isHidden:
				tag !== 'html' &&
				tag !== 'body' &&
				[...winners.values()].some(({ isHiding }) => isHiding),
			/** Undefined if the element has no font size of its own, so that the size of the element around it applies. */
			ownFontSize: fontSize && (fontSize.isHiding ? ('zero' as const) : ('visible' as const)),
		};
	}
}

const getKind = (simple: string) =>
	simple.startsWith('#') ? 'id' : simple.startsWith('.') ? 'class' : 'tag';

const compoundPattern = /^(?:[a-z][a-z\d]*|\*)?(?:[.#][\w-]+)*$/i;

/** Splits a compound selector such as `td.preheader`. @returns no simple selectors if it has too many, or one that is no tag, class or ID */
function splitCompound(compound: string): string[] {
	const parts = compound.replace('*', '').split(/(?=[.#])/, maxSelectorsPerCompound + 1);
	if (parts.length > maxSelectorsPerCompound || !compoundPattern.test(compound)) return [];
	return parts
		.map((part) => (/^[.#]/.test(part) ? part : part.toLowerCase()))
		.filter((part) => part !== '');
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
		const isHiding = hidingPatterns[property].test(
			name === 'font' ? value.replace(/[\s/].*/s, '') : value,
		);
		return { property, isHiding, isImportant: value !== rawValue };
	});
}

const isProperty = (name: string): name is Property => Object.hasOwn(hidingPatterns, name);

/** Removes comments. A comment without an end reaches up to the end of the style sheet. */
const removeComments = (css: string) =>
	css.replaceAll(/<!--|-->/g, ' ').replaceAll(/\/\*[\s\S]*?(?:\*\/|$)/g, ' ');

/** Yields the rules that do not stand in a block such as `@media`. */
function* splitRules(
	css: string,
): Generator<{ readonly selectors: string; readonly block: string }> {
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
