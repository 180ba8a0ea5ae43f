interface Listed {
	readonly name: string;
	readonly operations: ReadonlyArray<{ readonly name: string; readonly description: string }>;
}

const head = ['resource', 'operation', 'what it does'];

/** The README's table of operations, in prettier's format. */
export function operationsTable(resources: readonly Listed[]): string {
	const rows = resources.flatMap(({ name, operations }) =>
		operations.map((operation) => [name, operation.name, operation.description]),
	);
	const widths = head.map((title, column) =>
		Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)),
	);
	const line = (cells: readonly string[], fill = ' ') =>
		`| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0, fill)).join(' | ')} |`;
	return [line(head), line(['', '', ''], '-'), ...rows.map((row) => line(row))].join('\n');
}

const table = /^\| resource +\| operation +\|.*\n(?:\|.*\n)+/m;

/** The README with its table updated to the current operations. */
export function withOperations(readme: string, resources: readonly Listed[]): string {
	return readme.replace(table, `${operationsTable(resources)}\n`);
}
