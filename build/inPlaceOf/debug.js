/** Replaces `debug` by a function without output, because libraries print addresses of proxies, which may hold a password. */
module.exports = () => Object.assign(() => undefined, { enabled: false });
