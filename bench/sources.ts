// The product's sources import files without their extension, which its bundler and jest accept. With this,
// Node finds them too.
import { registerHooks } from 'node:module';

registerHooks({
	resolve(specifier, context, next) {
		const isSource = specifier.startsWith('.') && !/\.(ts|js|cjs|mjs|json)$/.test(specifier);
		return next(isSource ? `${specifier}.ts` : specifier, context);
	},
});
