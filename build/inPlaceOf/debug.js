/** Replaces `debug` by a function that prints nothing. Libraries would print the addresses of proxies, which may contain a password. */
module.exports = () => Object.assign(() => undefined, { enabled: false });
