export const say = (text: string) => {
	console.log(text);
};

/** A line of a table: a name, and what goes with it. */
export const row = (name: string, ...cells: readonly string[]) => {
	say([name.padEnd(34), ...cells].join('  '));
};
