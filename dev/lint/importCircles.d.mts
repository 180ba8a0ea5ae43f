/** The shortest import path from a file back to itself. */
export function circleOf(start: string): string[] | undefined;
