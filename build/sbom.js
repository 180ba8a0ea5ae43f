const { readFileSync, writeFileSync } = require('node:fs');
const path = require('node:path');

const { listBundledPackages } = require('./notices');

/**
 * Writes the name and version of every bundled package as CycloneDX 1.6. A user's `npm audit` cannot see them, because the package has no
 * dependencies. The file has no time and no serial number, so that the same sources give the same bytes.
 *
 * @param {{ root: string, inputs: string[], target: string }} options
 */
function writeSbom({ root, inputs, target }) {
	const { name, version, license } = JSON.parse(
		readFileSync(path.join(root, 'package.json'), 'utf8'),
	);
	const sbom = {
		$schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json',
		bomFormat: 'CycloneDX',
		specVersion: '1.6',
		version: 1,
		metadata: { component: buildComponent({ name, version, license, type: 'application' }) },
		components: listBundledPackages(root, inputs).map((library) =>
			buildComponent({ ...library, type: 'library' }),
		),
	};
	writeFileSync(target, `${JSON.stringify(sbom)}\n`);
}

function buildComponent({ name, version, license, type }) {
	const purl = `pkg:npm/${name.replace('@', '%40')}@${version}`;
	const isExpression = /\s(OR|AND|WITH)\s/.test(license);
	const licenses = [isExpression ? { expression: license } : { license: { id: license } }];
	return { type, name, version, purl, ...(license && { licenses }) };
}

module.exports = { writeSbom };
