const zeroPattern = /^0+(?:\.0*)?(?:[a-z]+|%)?$/;
/** The values that hide an element, by CSS property. */
const hidingPatterns = new Map([
	['display', /^none$/],
	['visibility', /^(?:hidden|collapse)$/],
	['max-height', zeroPattern],
	['opacity', zeroPattern],
	// Hides only the element's own text, because an element inside may have another size.
	['font-size', zeroPattern],
]);

/** CSS specificity as one number: order < tag < class < ID < style attribute < !important. */
const precedences = { tag: 1, class: 100, id: 10_000, style: 1e6, important: 1e8 };
const orderStep = 1e-6;
/** Ordinary style sheets have far fewer. With more, each element would take as long as the style sheet. */
const maxRulesPerSelector = 100;

interface Declaration {
	readonly property: string;
	readonly isHiding: boolean;
	readonly precedence: number;
}

interface Rule extends Declaration {
	/** The tag, classes and ID that an element must have, such as `td` and `.preheader`. */
	readonly simpleSelectors: readonly string[];
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
			for (const selector of selectors.split(',')) this.#addRule(selector, declarations);
		}
	}

	#addRule(selector: string, declarations: readonly Declaration[]): void {
		const { simpleSelectors, dependsOnContext, specificity } = readSelector(selector);
		const lastSelector = simpleSelectors.at(-1);
		if (lastSelector === undefined) return;
		const rules = this.#rules.get(lastSelector) ?? [];
		this.#rules.set(lastSelector, rules);
		this.#order += orderStep;
		for (const declaration of declarations) {
			if (rules.length >= maxRulesPerSelector) return;
			// Surrounding elements are not checked. So a rule that depends on them may show an element, but never hides one.
			if (dependsOnContext && declaration.isHiding) continue;
			const precedence = this.#order + specificity + declaration.precedence;
			rules.push({ ...declaration, simpleSelectors, precedence });
		}
	}

	/** @param attributes the attributes of the element, of which `id`, `class` and `style` count */
	getVisibility(tag: string, attributes: ReadonlyMap<string, string>) {
		const winners = new Map<string, Declaration>();
		for (const declaration of this.#findDeclarations(tag, attributes)) {
			const { property, precedence } = declaration;
			if (precedence >= (winners.get(property)?.precedence ?? 0))
				winners.set(property, declaration);
		}
		const fontSize = winners.get('font-size');
		winners.delete('font-size');
		const isPage = tag === 'html' || tag === 'body';
		return {
			isHidden: !isPage && Array.from(winners.values()).some(({ isHiding }) => isHiding),
			/** Whether the own font size is 0; undefined for an element with the font size of the element around it. */
			isSizeless: fontSize?.isHiding,
		};
	}

	#findDeclarations(tag: string, attributes: ReadonlyMap<string, string>): Declaration[] {
		const selectors = new Set([tag, `#${attributes.get('id')?.trim()}`]);
		for (const name of attributes.get('class')?.split(/\s+/) ?? []) selectors.add(`.${name}`);
		const declarations: Declaration[] = [];
		for (const selector of selectors)
			for (const rule of this.#rules.get(selector) ?? [])
				if (rule.simpleSelectors.every((simple) => selectors.has(simple)))
					declarations.push(rule);
		for (const declaration of readDeclarations(attributes.get('style') ?? '')) {
			const precedence = precedences.style + declaration.precedence;
			declarations.push({ ...declaration, precedence });
		}
		return declarations;
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

/** Reads a selector such as `td.preheader`. For one that needs more than tag, classes and ID, there are no simple selectors. */
function readSelector(selector: string) {
	const selectorInBody = selector.trim().replace(/^(?:html\s+)?body\s+/i, '');
	const compounds = selectorInBody.split(/[\s>+~]+/);
	const simpleSelectors = selector.includes(':') ? [] : splitCompound(compounds.at(-1) ?? '');
	const dependsOnContext = compounds.length > 1;
	let specificity = dependsOnContext ? precedences.class : 0;
	for (const simple of simpleSelectors) specificity += precedences[getKind(simple)];
	return { simpleSelectors, dependsOnContext, specificity };
}

function getKind(simple: string) {
	if (simple.startsWith('#')) return 'id';
	return simple.startsWith('.') ? 'class' : 'tag';
}

/** Splits a compound selector such as `td.preheader`. @returns no simple selectors if one is no tag, class or ID */
function splitCompound(compound: string): string[] {
	if (!/^(?:[a-z][a-z\d]*|\*)?(?:[.#][\w-]+)*$/i.test(compound)) return [];
	const [tag = '', ...others] = compound.split(/(?=[.#])/);
	if (/^[.#]/.test(tag)) return [tag, ...others];
	return tag === '' || tag === '*' ? others : [tag.toLowerCase(), ...others];
}

function readDeclarations(block: string): Declaration[] {
	const text = block.toLowerCase();
	const declarations: Declaration[] = [];
	for (const [, name = '', value = '', important] of text.matchAll(
		/([a-z-]+)\s*:([^;!]*)(!\s*important)?/g,
	)) {
		// `font: 0/0 a` begins with the size.
		const isFont = name === 'font';
		const property = isFont ? 'font-size' : name;
		const pattern = hidingPatterns.get(property);
		// An animated element may begin with an opacity of 0 and then appear.
		const isAnimated = property === 'opacity' && text.includes('animation');
		if (!pattern || isAnimated) continue;
		const isHiding = pattern.test(isFont ? value.trim().replace(/[\s/].*/s, '') : value.trim());
		declarations.push({
			property,
			isHiding,
			precedence: important ? precedences.important : 0,
		});
	}
	return declarations;
}
