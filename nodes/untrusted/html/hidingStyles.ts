import { getOrAdd } from '../../core/boundedMap';

const zeroPattern = /^0+(?:\.0*)?(?:[a-z]+|%)?$/;
/** The values that hide an element, by CSS property. */
const hidingPatterns = new Map([
	['display', /^none$/],
	['visibility', /^(?:hidden|collapse)$/],
	['max-height', zeroPattern],
	['opacity', zeroPattern],
	// Hides only the element's own text, because an element inside may have another size.
	['font-size', zeroPattern],
	// `font: 0/0 a` begins with the size.
	['font', /^0[a-z%]*[\s/]/],
]);

/** Ordinary style sheets have far fewer. With more, each element would take as long as the style sheet. */
const maxRulesPerSelector = 100;

interface Declaration {
	readonly property: string;
	readonly isHiding: boolean;
	readonly isImportant: boolean;
}

interface Rule {
	/** The tag, classes and ID that an element must have, such as `td` and `.preheader`. */
	readonly simpleSelectors: readonly string[];
	/** The position in the style sheets. A later rule wins. CSS also weighs the selectors, which seldom decides. */
	readonly order: number;
	readonly declaration: Declaration;
}

/** Finds out which elements of a page its `style` elements and attributes hide on any screen. */
export class HidingStyles {
	/** Rules, by the last of their simple selectors. */
	readonly #rules = new Map<string, Rule[]>();
	#order = 0;

	/** @param css the content of a `style` element */
	addStyleSheet(css: string): void {
		// A rule without an end is none.
		for (const text of removeBlocks(css).split('}').slice(0, -1)) {
			const [block = '', selectors = ''] = text.split('{').reverse();
			const declarations = readDeclarations(block);
			if (declarations.length === 0) continue;
			for (const selector of selectors.split(',')) this.#addRules(selector, declarations);
		}
	}

	#addRules(selector: string, declarations: readonly Declaration[]): void {
		const selectorInBody = selector.trim().replace(/^(?:html\s+)?body\s+/i, '');
		const compounds = selectorInBody.split(/[\s>+~]+/);
		const simpleSelectors = splitCompound(compounds.at(-1) ?? '');
		const lastSelector = simpleSelectors.at(-1);
		if (lastSelector === undefined) return;
		const rules = getOrAdd(this.#rules, lastSelector, () => []);
		for (const declaration of declarations) {
			// Surrounding elements are not checked. So a rule that depends on them may show an element, but never hides one.
			if (compounds.length > 1 && declaration.isHiding) continue;
			if (rules.length >= maxRulesPerSelector) return;
			rules.push({ simpleSelectors, order: this.#order++, declaration });
		}
	}

	/** @param attributes the attributes of the element, of which `hidden`, `id`, `class` and `style` count */
	getVisibility(tag: string, attributes: ReadonlyMap<string, string>) {
		const winners = new Map<string, Declaration>();
		for (const declaration of this.#findDeclarations(tag, attributes)) {
			const { property, isImportant } = declaration;
			if (isImportant || !winners.get(property)?.isImportant)
				winners.set(property, declaration);
		}
		const fontSize = winners.get('font-size');
		winners.delete('font-size');
		const isPage = tag === 'html' || tag === 'body';
		const hasHidingStyle = Array.from(winners.values()).some(({ isHiding }) => isHiding);
		return {
			isHidden: attributes.has('hidden') || (hasHidingStyle && !isPage),
			/** Whether the own font size is 0; undefined for an element with the font size of the element around it. */
			isSizeless: fontSize?.isHiding,
		};
	}

	/** Finds all declarations for an element, those that win last. */
	#findDeclarations(tag: string, attributes: ReadonlyMap<string, string>): Declaration[] {
		const selectors = new Set([tag, `#${attributes.get('id')?.trim()}`]);
		for (const name of attributes.get('class')?.split(/\s+/) ?? []) selectors.add(`.${name}`);
		const rules: Rule[] = [];
		for (const selector of selectors)
			for (const rule of this.#rules.get(selector) ?? [])
				if (rule.simpleSelectors.every((simple) => selectors.has(simple))) rules.push(rule);
		rules.sort((a, b) => a.order - b.order);
		const declarations = rules.map(({ declaration }) => declaration);
		return [...declarations, ...readDeclarations(attributes.get('style') ?? '')];
	}
}

/** Removes comments, and blocks such as `@media`. A comment without an end reaches up to the end of the style sheet. */
function removeBlocks(css: string): string {
	const innermostBlockPattern = /@[^{};@]*(?:;|\{(?:[^{}@]*\{[^{}]*\})*[^{}@]*\})/g;
	return css
		.replaceAll(/<!--|-->|\/\*[\s\S]*?(?:\*\/|$)/g, ' ')
		.replaceAll(innermostBlockPattern, ' ')
		.replaceAll(innermostBlockPattern, ' ');
}

/** Splits a compound selector such as `td.preheader`. @returns no simple selectors if it needs more than tag, classes and ID */
function splitCompound(compound: string): string[] {
	if (!/^(?:[a-z][a-z\d]*|\*)?(?:[.#][\w-]+)*$/i.test(compound)) return [];
	const [tag = '', ...others] = compound.split(/(?=[.#])/);
	if (/^[.#]/.test(tag)) return [tag, ...others];
	return tag === '' || tag === '*' ? others : [tag.toLowerCase(), ...others];
}

function readDeclarations(block: string): Declaration[] {
	const text = block.toLowerCase();
	const declarations: Declaration[] = [];
	const pattern = /(?<![a-z-])([a-z-]+)\s*:([^;!]*)(!\s*important)?/g;
	for (const [, name = '', value = '', important] of text.matchAll(pattern)) {
		const hidingPattern = hidingPatterns.get(name);
		// An animated element may begin with an opacity of 0 and then appear.
		const isAnimated = name === 'opacity' && text.includes('animation');
		if (!hidingPattern || isAnimated) continue;
		declarations.push({
			property: name === 'font' ? 'font-size' : name,
			isHiding: hidingPattern.test(value.trim()),
			isImportant: important !== undefined,
		});
	}
	return declarations;
}
