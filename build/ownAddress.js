const path = require('node:path');

/** What sources and codex files write for the repository; whose it is stands in package.json alone. */
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
