import type { SocketOpener } from './webSocket';

let loadedOpenSocket: SocketOpener | undefined;

/**
 * Loads the `ws` library when the first channel opens, and keeps it. An update of the package
 * deletes its file, but published triggers of the old version still need it.
 */
export async function loadSocketOpener(): Promise<SocketOpener> {
	loadedOpenSocket ??= (await import('./webSocket')).openSocket;
	return loadedOpenSocket;
}
