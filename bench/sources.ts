// The product's own sources leave out the ending of what they import, as its bundler and jest do: with this, Node finds them, too.
import { registerHooks } from 'node:module';

registerHooks({
	resolve(specifier, context, next) {
		const isSource = specifier.startsWith('.') && !/\.(ts|js|cjs|mjs|json)$/.test(specifier);
		return next(isSource ? `${specifier}.ts` : specifier, context);
	},
});
