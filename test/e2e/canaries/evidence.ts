import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';

import { forms, formsIn } from '../../forms';

export interface Evidence {
	readonly where: string;
	readonly text: string;
}

/** The one column that may hold a canary: n8n encrypts it, and the key is in a file of its own. */
const encrypted = { table: 'credentials_entity', column: 'data' };

/** All tables of n8n's database, each as the JSON of its rows. */
export function databaseDump(userFolder: string): Evidence[] {
	const database = new DatabaseSync(path.join(userFolder, '.n8n', 'database.sqlite'), {
		readOnly: true,
	});
	const tables = database.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").all();
	const dump = tables.map(({ name }) => {
		const table = String(name);
		const rows = database.prepare(`SELECT * FROM "${table}"`).all();
		const shown = rows.map((row) =>
			Object.values(table === encrypted.table ? { ...row, [encrypted.column]: '' } : row)
				.map((value) =>
					value instanceof Uint8Array
						? Buffer.from(value).toString('latin1')
						: String(value),
				)
				.join('\n'),
		);
		return { where: `table ${table}`, text: shown.join('\n') };
	});
	database.close();
	return dump;
}

/** What n8n writes besides its database: its log, its event log, files of executions. */
export function writtenFiles(userFolder: string): Evidence[] {
	const root = path.join(userFolder, '.n8n');
	const files = readdirSync(root, { recursive: true, withFileTypes: true })
		.filter((entry) => entry.isFile() && !entry.name.startsWith('database.sqlite'))
		.map((entry) => path.join(entry.parentPath, entry.name))
		.filter((file) => !file.startsWith(path.join(root, 'nodes')));
	return files.map((file) => ({
		where: path.relative(root, file),
		text: readFileSync(file, 'latin1'),
	}));
}

/** Each canary in each of its forms, and where it was found. */
export function findCanaries(
	evidence: readonly Evidence[],
	canaries: Readonly<Record<string, string>>,
): string[] {
	return evidence.flatMap(({ where, text }) =>
		Object.entries(canaries).flatMap(([name, secret]) =>
			formsIn(text, secret).map(
				(form) => `${name} as ${form} in ${where}: ${around(text, form, secret)}`,
			),
		),
	);
}

function around(text: string, form: string, secret: string): string {
	const at = text.indexOf(forms[form]?.(secret).slice(0, 14) ?? secret);
	return text.slice(Math.max(0, at - 150), at + 60).replace(/\s+/g, ' ');
}
