import type { Service } from '../service.ts';

export function createGmailService(): Service {
	return { methods: {}, reset: () => undefined };
}
