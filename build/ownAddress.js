const path = require('node:path');

/** The address that sources and codex files have for the repository. Only package.json has the real one. */
const placeholder = 'https://github.com/n8n-nodes-agent-workspace/n8n-nodes-agent-workspace';

/**
 * @param {string} root of the project
 * @returns {(text: string) => string} puts the owner's address in
 */
function ownAddress(root) {
	const { homepage } = require(path.join(root, 'package.json'));
	const address = homepage.replace(/#.*$/, '');
	return (text) => text.replaceAll(placeholder, address);
}

module.exports = { ownAddress };
