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
	/** Tags, classes and IDs, such as `td`, `.preheader` and `td.preheader`. */
	readonly #hiding = new Set<string>();
	readonly #showing = new Set<string>();

	/** @param css the content of a `style` element */
	addStyleSheet(css: string): void {
		// A rule without an end is none.
		for (const rule of removeBlocks(css).split('}').slice(0, -1)) {
			const [block = '', selectors = ''] = rule.split('{').reverse();
			const effect = findEffect(block);
			for (const selector of selectors.split(',')) this.#addRule(selector.trim(), effect);
		}
	}

	#addRule(selector: string, effect: Effect): void {
		// A longer part is no name of a class.
		const [lastPart = ''] = /[.#]?[\w-]+$/.exec(selector.slice(-200)) ?? [];
		if (effect === 'shows') this.#showing.add(lastPart);
		// A rule that also depends on something else may show an element, but never hides one.
		const isSimple = /^[a-z\d]*(?:[.#][\w-]+)?$/i.test(selector);
		if (effect === 'hides' && isSimple) this.#hiding.add(selector);
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
		const ownEffect = findEffect(attributes.get('style') ?? '');
		if (ownEffect === 'shows' || selectors.some((selector) => this.#showing.has(selector)))
			return false;
		return ownEffect === 'hides' || selectors.some((selector) => this.#hiding.has(selector));
	}
}

/** Lists the selectors of one tag, class or ID that an element fits. */
function listSelectors(tag: string, attributes: ReadonlyMap<string, string>): string[] {
	const classes = attributes.get('class')?.split(/\s+/) ?? [];
	const names = [`#${attributes.get('id')?.trim()}`, ...classes.map((name) => `.${name}`)];
	return [tag, ...names, ...names.map((name) => tag + name)];
}

/**
 * Removes comments, and blocks such as `@media`. A comment without an end reaches up to the end of
 * the style sheet.
 */
function removeBlocks(css: string): string {
	const innermostBlockPattern = /@[^{};@]*(?:;|\{(?:[^{}@]*\{[^{}]*\})*[^{}@]*\})/g;
	return css
		.replaceAll(/<!--|-->|\/\*[\s\S]*?(?:\*\/|$)/g, ' ')
		.replaceAll(innermostBlockPattern, ' ')
		.replaceAll(innermostBlockPattern, ' ');
}

type Effect = 'hides' | 'shows' | 'none';

/** Finds out what a block of declarations does to the elements of its rule. */
function findEffect(block: string): Effect {
	/** Whether the value of a property hides the element, by property. */
	const hides = new Map<string, boolean>();
	const isCut = /overflow(?:-y)?\s*:\s*(?:hidden|clip)/i.test(block);
	for (const declaration of block.toLowerCase().split(';')) {
		const [property = '', value = ''] = declaration.split(':').map((text) => text.trim());
		const pattern = hidingPatterns.get(property);
		// Too much text is better than too little.
		if (!pattern || hides.get(property) === false) continue;
		const isHiding = pattern.test(value.replace(/!\s*important$/, '').trim());
		// What is higher than its element is shown all the same, unless it is cut.
		if (!isHiding || property !== 'max-height' || isCut) hides.set(property, isHiding);
	}
	if ([...hides.values()].includes(true)) return 'hides';
	return hides.size > 0 ? 'shows' : 'none';
}
