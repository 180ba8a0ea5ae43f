/** The part of gaxios that googleapis-common still uses when our own transport sends the requests: merging headers. */
exports.Gaxios = class Gaxios {
	static mergeHeaders(base, ...more) {
		const merged = new Headers(base);
		for (const headers of more) new Headers(headers).forEach((value, name) => merged.set(name, value));
		return merged;
	}
};
