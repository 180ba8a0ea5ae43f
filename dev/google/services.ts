import { createDocsService, type DocsService } from './docs/service.ts';
import { createDriveService, type DriveService } from './drive/service.ts';
import { FileRegistry } from './files.ts';
import { createGmailService, type GmailService } from './gmail/service.ts';
import type { Service } from './service.ts';
import { createSheetsService } from './sheets/service.ts';

export interface Services {
	readonly files: FileRegistry;
	readonly gmail: GmailService;
	readonly sheets: ReturnType<typeof createSheetsService>;
	readonly docs: DocsService;
	readonly drive: DriveService;
}

export interface ServiceOptions {
	/** If false, only sizes and checksums of uploads are kept, so that files of any size fit in memory. */
	readonly keepContent?: boolean;
	/**
	 * Email addresses that may sign in. The first is used if none is named. Default `someone@example.com`.
	 */
	readonly users?: readonly string[];
}

export function createServices({ keepContent, users }: ServiceOptions): Services {
	const files = new FileRegistry();
	return {
		files,
		gmail: createGmailService({ user: users?.[0] }),
		sheets: createSheetsService({ files }),
		docs: createDocsService({ files }),
		drive: createDriveService({ files, keepContent }),
	};
}

/** Finds the service of a method ID, whose first part is the API's name. */
export function findService(services: Services, method: string): Service | undefined {
	const { gmail, sheets, docs, drive } = services;
	const byName: Readonly<Record<string, Service>> = { gmail, sheets, docs, drive };
	return byName[method.split('.')[0] ?? ''];
}

export function resetServices({ files, gmail, sheets, docs, drive }: Services): void {
	files.clear();
	for (const service of [gmail, sheets, docs, drive]) service.reset();
}
