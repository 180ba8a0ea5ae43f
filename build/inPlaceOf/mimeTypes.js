/** The media types of file names stand in the package once, in the tables that uploads use, too. */
const { extension, lookup } = require('mime-types');

exports.detectMimeType = (name) => lookup(name) || 'application/octet-stream';
exports.detectExtension = (type) => extension(type) || 'bin';
