import { lookup } from 'mime-types';

/** Heavy: the table of all media types; loaded on first use only. */
export function typeOfName(name: string): string | undefined {
	return lookup(name) || undefined;
}
