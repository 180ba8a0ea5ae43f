// Runs before every npm script that needs the dependencies, with any version of Node: plain JavaScript, only
// Node's own modules. Installs what the lock file names unless exactly that is already installed.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = path.join(path.dirname(fileURLToPath(import.meta.url)), '..');
const marker = path.join(root, 'node_modules', '.installed-from');
const lockFile = readFileSync(path.join(root, 'package-lock.json'), 'utf8');
const lockHash = createHash('sha256').update(lockFile).digest('hex');

const [major, minor] = process.versions.node.split('.').map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
	stop(
		`Node ${process.versions.node} is too old: 20.19 or newer is needed to begin (a Node 24 is brought along).`,
	);
}
if (!isInstalled()) await install();

function isInstalled() {
	if (existsSync(marker)) return readFileSync(marker, 'utf8') === lockHash;
	// After a manual `npm ci`: npm's own record of what it installed, which lacks only packages of other
	// platforms.
	const record = path.join(root, 'node_modules', '.package-lock.json');
	if (!existsSync(record)) return false;
	const wanted = JSON.parse(lockFile).packages;
	const present = JSON.parse(readFileSync(record, 'utf8')).packages;
	const complete = Object.entries(wanted).every(
		([name, { version, optional, os }]) =>
			name === '' ||
			present[name]?.version === version ||
			(present[name] === undefined && (optional || os)),
	);
	if (complete) writeFileSync(marker, lockHash);
	return complete;
}

async function install() {
	console.log('Installing the development dependencies (once, about a minute) …');
	const npm = spawn('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], {
		cwd: root,
		stdio: ['ignore', 'inherit', 'pipe'],
	});
	let complaints = '';
	npm.stderr.on('data', (data) => {
		complaints += data;
	});
	const code = await new Promise((resolve) => {
		npm.on('error', () => resolve(undefined));
		npm.on('close', resolve);
	});
	if (code === undefined)
		stop('npm was not found. It comes with Node: install Node 20.19 or newer with npm.');
	if (code !== 0) stop(sentence(complaints));
	writeFileSync(marker, lockHash);
}

function sentence(complaints) {
	if (/ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ETIMEDOUT|ENETUNREACH|network/i.test(complaints)) {
		return 'The dependencies could not be downloaded: no answer from the npm registry. Check the network connection (and the proxy, if there is one), then run the same command again.';
	}
	if (/ENOSPC/.test(complaints)) return 'The disk is full: the dependencies need about 1 GB.';
	return `The dependencies could not be installed. npm says:\n${complaints.trim()}`;
}

function stop(text) {
	console.error(`\n${text}`);
	process.exit(1);
}
