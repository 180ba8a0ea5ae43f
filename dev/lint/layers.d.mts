/** The layers of the package, from the top down. */
export const layers: readonly string[];
/** What is wrong with an import, if anything; both paths are relative to the repository. */
export function describeWrongImport(file: string, target: string): string | undefined;
