/** What googleapis-common uses of gaxios once requests go out through our own transport: how headers are put together. */
exports.Gaxios = class Gaxios {
	static mergeHeaders(base, ...more) {
		const merged = new Headers(base);
		for (const headers of more) new Headers(headers).forEach((value, name) => merged.set(name, value));
		return merged;
	}
};
