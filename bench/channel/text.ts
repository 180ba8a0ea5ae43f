export const say = (text: string) => {
	console.log(text);
};

/** Prints a line of a table: a name and its cells. */
export const row = (name: string, ...cells: readonly string[]) => {
	say([name.padEnd(34), ...cells].join('  '));
};
