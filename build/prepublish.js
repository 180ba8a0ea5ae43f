// Runs before `npm publish`. Refuses a release that cannot be traced to its owner and its tag.
const { readFileSync } = require('node:fs');
const path = require('node:path');

const root = path.join(__dirname, '..');

/** What package.json contains while the owner is not known. The owner is entered only there. */
const placeholders = [
	/n8n-nodes-agent-workspace\/n8n-nodes-agent-workspace/,
	/\.example\b/,
	/authors$/,
];

function listReasons() {
	const manifest = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'));
	const { version, author, homepage, repository, bugs } = manifest;
	const reasons = [];
	for (const [name, value] of Object.entries({ author, homepage, repository, bugs })) {
		const texts = typeof value === 'object' ? Object.values(value) : [String(value)];
		if (texts.some((text) => placeholders.some((placeholder) => placeholder.test(text)))) {
			reasons.push(`package.json still has a placeholder in "${name}"`);
		}
	}
	const changelog = readFileSync(path.join(root, 'CHANGELOG.md'), 'utf8');
	const datedHeading = new RegExp(
		`^## ${version.replaceAll('.', '\\.')} \\(\\d{4}-\\d\\d-\\d\\d\\)$`,
		'm',
	);
	if (!datedHeading.test(changelog))
		reasons.push(`CHANGELOG.md has no dated section for ${version}`);
	const tag = process.env.GITHUB_REF_NAME;
	if (tag !== `v${version}`) reasons.push(`the tag is ${tag ?? 'missing'}, not v${version}`);
	if (process.execPath.includes('node_modules')) {
		reasons.push(
			'the Node that builds comes from node_modules, for which the lock file does not vouch',
		);
	}
	return reasons;
}

const reasons = listReasons();
if (reasons.length > 0) {
	console.error(`\nNot published:\n${reasons.map((reason) => `- ${reason}`).join('\n')}\n`);
	process.exitCode = 1;
}
