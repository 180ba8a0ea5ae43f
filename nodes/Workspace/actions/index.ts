/**
 * The operations by resource. To add one, create its file and add an export line to the index of
 * its folder.
 */
export * as document from './document';
export * as file from './file';
export * as mail from './mail';
export * as spreadsheet from './spreadsheet';
