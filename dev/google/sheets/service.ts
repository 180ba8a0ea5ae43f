import type { FileRegistry } from '../files.ts';
import type { Service } from '../service.ts';

export function createSheetsService(_options: { readonly files: FileRegistry }): Service {
	return { methods: {}, reset: () => undefined };
}
