/** The shortest import path from a file back to itself. */
export function findImportCircle(start: string): string[] | undefined;
