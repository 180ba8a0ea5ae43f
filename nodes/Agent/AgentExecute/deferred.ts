export interface Deferred<T> {
	readonly promise: Promise<T>;
	resolve(value: T): void;
	reject(error: Error): void;
}

/** Rejections reach the code that waits. If none does, they can be ignored. */
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
