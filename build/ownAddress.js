const path = require('node:path');

/** The address of the repository in sources and codex files. Only package.json has the real address. */
const placeholder = 'https://github.com/n8n-nodes-agent-workspace/n8n-nodes-agent-workspace';

/**
 * @param {string} root the folder of the project
 * @returns {(text: string) => string} replaces this address in a text by the real one
 */
function ownAddress(root) {
	const { homepage } = require(path.join(root, 'package.json'));
	const address = homepage.replace(/#.*$/, '');
	return (text) => text.replaceAll(placeholder, address);
}

module.exports = { ownAddress };
