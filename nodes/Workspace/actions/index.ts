/** The operations by resource. A new one is a file and an export line in the index of its folder. */
export * as document from './document';
export * as file from './file';
export * as mail from './mail';
export * as spreadsheet from './spreadsheet';
