/** Matches a style that hides its element. */
const hiddenPattern =
	/(?<![\w-])(?:display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse))\s*(?:[;!]|$)/i;
/** Matches a style without height. What is higher is shown all the same, unless it is cut. */
const heightlessPattern = /(?<![\w-])max-height\s*:\s*0+(?:\.0*)?(?:[a-z]+|%)?\s*(?:[;!]|$)/i;
const cutPattern = /(?<![\w-])overflow(?:-y)?\s*:\s*(?:hidden|clip)/i;
/** Matches a style that hides its element or shows it. */
const decidingPattern = /(?<![\w-])(?:display|visibility|max-height)\s*:/i;

const isHiding = (style: string) =>
	hiddenPattern.test(style) || (heightlessPattern.test(style) && cutPattern.test(style));

/**
 * Finds out which elements of a page its `style` elements and attributes hide on any screen. CSS
 * weighs rules that contradict each other, property by property. Here, a rule that shows an element
 * always wins, because too much text is better than too little.
 */
export class HidingStyles {
	/** The tags, classes and IDs of hidden elements, such as `td`, `.preheader`, `td.preheader`. */
	readonly #hiding = new Set<string>();
	readonly #showing = new Set<string>();

	/** @param css the content of a `style` element */
	addStyleSheet(css: string): void {
		// A rule without an end is none.
		for (const rule of removeCommentsAndAtRules(css).split('}').slice(0, -1)) {
			const [style = '', selectors = ''] = rule.split('{').reverse();
			if (!decidingPattern.test(style)) continue;
			for (const selector of selectors.split(',')) this.#addRule(selector.trim(), style);
		}
	}

	#addRule(selector: string, style: string): void {
		if (isHiding(style)) {
			// A rule that also depends on something else may show an element, but never hides one.
			if (/^[a-z\d]*(?:[.#][\w-]+)?$/i.test(selector)) this.#hiding.add(selector);
			return;
		}
		// A longer part is no name of a class.
		const [lastPart] = /[.#]?[\w-]+$/.exec(selector.slice(-200)) ?? [];
		if (lastPart !== undefined) this.#showing.add(lastPart);
	}

	/**
	 * @param attributes the attributes of the element, of which `hidden`, `id`, `class` and `style`
	 * count
	 */
	isHidden(tag: string, attributes: ReadonlyMap<string, string>): boolean {
		if (attributes.has('hidden')) return true;
		// Nobody sends a page without a text.
		if (tag === 'html' || tag === 'body') return false;
		const selectors = listSelectors(tag, attributes);
		if (selectors.some((selector) => this.#showing.has(selector))) return false;
		const ownStyle = attributes.get('style') ?? '';
		if (decidingPattern.test(ownStyle)) return isHiding(ownStyle);
		return selectors.some((selector) => this.#hiding.has(selector));
	}
}

/** Lists the selectors of one tag, class or ID that an element fits. */
function listSelectors(tag: string, attributes: ReadonlyMap<string, string>): string[] {
	const classes = attributes.get('class')?.split(/\s+/) ?? [];
	const names = classes.map((name) => `.${name}`);
	const id = attributes.get('id')?.trim();
	if (id) names.push(`#${id}`);
	return [tag, ...names, ...names.map((name) => tag + name)];
}

/**
 * Removes comments, and rules such as `@media`. A comment without an end reaches up to the end of
 * the style sheet.
 */
function removeCommentsAndAtRules(css: string): string {
	const atRulePattern = /@[^{};@]*(?:;|\{(?:[^{}@]*\{[^{}]*\})*[^{}@]*\})/g;
	return css
		.replaceAll(/<!--|-->|\/\*[\s\S]*?(?:\*\/|$)/g, ' ')
		.replaceAll(atRulePattern, ' ')
		.replaceAll(atRulePattern, ' ');
}
