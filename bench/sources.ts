// The product's sources import files without their extension, which its bundler and jest accept. With this,
// Node finds them too. So do the ES modules of n8n-workflow, of which n8n itself uses the CommonJS ones.
import { createRequire, registerHooks } from 'node:module';
import { pathToFileURL } from 'node:url';

// Before the hook, which would ask itself.
const commonJs = pathToFileURL(createRequire(import.meta.url).resolve('n8n-workflow')).href;

registerHooks({
	resolve(specifier, context, next) {
		if (specifier === 'n8n-workflow') return next(commonJs, context);
		const isSource = specifier.startsWith('.') && !/\.(ts|js|cjs|mjs|json)$/.test(specifier);
		const isOurs = context.parentURL?.includes('/node_modules/') !== true;
		return next(isSource && isOurs ? `${specifier}.ts` : specifier, context);
	},
});
