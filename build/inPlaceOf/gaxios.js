/** Merges headers. googleapis-common uses nothing else of gaxios, because our own transport sends the requests. */
exports.Gaxios = class Gaxios {
	static mergeHeaders(base, ...others) {
		const merged = new Headers(base);
		for (const headers of others)
			new Headers(headers).forEach((value, name) => merged.set(name, value));
		return merged;
	}
};
