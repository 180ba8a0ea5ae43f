/** Replaces nodemailer's tables of MIME types by those of `mime-types`, which uploads use. So the package has one copy. */
const { extension, lookup } = require('mime-types');

exports.detectMimeType = (name) => lookup(name) || 'application/octet-stream';
exports.detectExtension = (type) => extension(type) || 'bin';
