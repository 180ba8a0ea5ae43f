const { readFileSync, writeFileSync } = require('node:fs');
const path = require('node:path');

const { bundledPackages } = require('./notices');

/**
 * Writes name and version of every bundled package, because the package has no dependencies that a user's `npm audit` could
 * see. CycloneDX 1.6, without time and serial number, so that the same sources give the same bytes.
 *
 * @param {{ root: string, inputs: string[], target: string }} options
 */
function writeSbom({ root, inputs, target }) {
	const { name, version, license } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'));
	const sbom = {
		$schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json',
		bomFormat: 'CycloneDX',
		specVersion: '1.6',
		version: 1,
		metadata: { component: component({ name, version, license, type: 'application' }) },
		components: bundledPackages(root, inputs).map((one) => component({ ...one, type: 'library' })),
	};
	writeFileSync(target, `${JSON.stringify(sbom)}\n`);
}

function component({ name, version, license, type }) {
	const purl = `pkg:npm/${name.replace('@', '%40')}@${version}`;
	// "BSD" is not an SPDX identifier, so it goes under `name`.
	const key = license === 'BSD' ? 'name' : 'id';
	const isExpression = /\s(OR|AND|WITH)\s/.test(license);
	const licenses = [isExpression ? { expression: license } : { license: { [key]: license } }];
	return { type, name, version, purl, ...(license && { licenses }) };
}

module.exports = { writeSbom };
