/** What sources weigh. Tokens are the compiler's, so no formatting changes them. */
export interface Weight {
	readonly tokens: number;
	/** `?.`, `??`, `&&`, `||`, `?:` and `=>`. */
	readonly operatorsPerLine: number;
	readonly tokensPerLine: number;
	/** The share of functions that declare ten or more names. */
	readonly busyPercent: number;
}
/** Weighs all sources in files and folders. */
export function weigh(roots: readonly string[]): Weight;
