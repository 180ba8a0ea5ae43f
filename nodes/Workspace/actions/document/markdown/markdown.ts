/** Loaded on first use: everything that needs a Markdown library. */
export { contentOf } from './parse';
export { markdownOf } from './print';
