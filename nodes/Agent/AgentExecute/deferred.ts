export interface Deferred<T> {
	readonly promise: Promise<T>;
	resolve(value: T): void;
	reject(error: Error): void;
}

/** Whoever waits is told of a rejection; when nobody does, nobody needs to know. */
export function deferred<T>(): Deferred<T> {
	let settle: Omit<Deferred<T>, 'promise'> | undefined;
	const promise = new Promise<T>((resolve, reject) => {
		settle = { resolve, reject };
	});
	promise.catch(() => undefined);
	return {
		promise,
		resolve: (value) => settle?.resolve(value),
		reject: (error) => settle?.reject(error),
	};
}
