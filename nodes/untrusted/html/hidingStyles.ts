/** The values that hide an element, by CSS property. */
const hidingPatterns = new Map([
	['display', /^none$/],
	['visibility', /^(?:hidden|collapse)$/],
	['max-height', /^0+(?:\.0*)?(?:[a-z]+|%)?$/],
]);

/**
 * Finds out which elements of a page its `style` elements and attributes hide on any screen. CSS
 * weighs rules that contradict each other. Here, a rule that shows an element always wins, because
 * too much text is better than too little.
 */
export class HidingStyles {
	/**
	 * A property with a tag, class or ID, such as `display td`, `display .preheader` and
	 * `display td.preheader`.
	 */
	readonly #hiding = new Set<string>();
	readonly #showing = new Set<string>();

	/** @param css the content of a `style` element */
	addStyleSheet(css: string): void {
		// A rule without an end is none.
		for (const text of removeCommentsAndAtRules(css).split('}').slice(0, -1)) {
			const [block = '', selectors = ''] = text.split('{').reverse();
			const style = readStyle(block);
			for (const selector of selectors.split(',')) this.#addRule(selector.trim(), style);
		}
	}

	#addRule(selector: string, style: Style): void {
		const isSimple = /^[a-z\d]*(?:[.#][\w-]+)?$/i.test(selector);
		// A longer part is no name of a class.
		const lastPart = /[.#]?[\w-]+$/.exec(selector.slice(-200))?.[0];
		for (const [property, isHiding] of style)
			if (!isHiding) this.#showing.add(`${property} ${lastPart}`);
			// A rule that also depends on something else may show an element, but never hides one.
			else if (isSimple) this.#hiding.add(`${property} ${selector}`);
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
		const ownStyle = readStyle(attributes.get('style') ?? '');
		for (const property of hidingPatterns.keys()) {
			const rules = selectors.map((selector) => `${property} ${selector}`);
			const isShown =
				ownStyle.get(property) === false || rules.some((rule) => this.#showing.has(rule));
			if (isShown) continue;
			if (ownStyle.has(property) || rules.some((rule) => this.#hiding.has(rule))) return true;
		}
		return false;
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
	const innermostBlockPattern = /@[^{};@]*(?:;|\{(?:[^{}@]*\{[^{}]*\})*[^{}@]*\})/g;
	return css
		.replaceAll(/<!--|-->|\/\*[\s\S]*?(?:\*\/|$)/g, ' ')
		.replaceAll(innermostBlockPattern, ' ')
		.replaceAll(innermostBlockPattern, ' ');
}

/** Whether the value of a property hides the element, by property. */
type Style = ReadonlyMap<string, boolean>;

function readStyle(block: string): Style {
	const style = new Map<string, boolean>();
	const isCut = /overflow(?:-y)?\s*:\s*(?:hidden|clip)/i.test(block);
	for (const declaration of block.toLowerCase().split(';')) {
		const [property = '', value = ''] = declaration.split(':').map((text) => text.trim());
		const pattern = hidingPatterns.get(property);
		// Too much text is better than too little.
		if (!pattern || style.get(property) === false) continue;
		const isHiding = pattern.test(value.replace(/!\s*important$/, '').trim());
		// What is higher than its element is shown all the same, unless it is cut.
		if (!isHiding || property !== 'max-height' || isCut) style.set(property, isHiding);
	}
	return style;
}
