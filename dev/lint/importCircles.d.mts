/** The shortest way from a file back to itself. */
export function circleOf(start: string): string[] | undefined;
