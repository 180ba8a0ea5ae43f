import type { Logger } from 'n8n-workflow';

import type { Sanitizer } from './sanitizer';

export type CleanLog = Pick<Logger, 'debug' | 'info' | 'warn' | 'error'>;

/** n8n's log, restricted to sanitized texts: none can forge another line or contain a secret. */
export function cleanLog(logger: CleanLog, sanitizer: Sanitizer): CleanLog {
	return {
		debug: (text) => {
			logger.debug(sanitizer.text(text));
		},
		info: (text) => {
			logger.info(sanitizer.text(text));
		},
		warn: (text) => {
			logger.warn(sanitizer.text(text));
		},
		error: (text) => {
			logger.error(sanitizer.text(text));
		},
	};
}
