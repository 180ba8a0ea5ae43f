// Each operation of the Workspace node, and what n8n itself has for the same work.
import type { Contest } from './contests/contest.ts';
import { documents } from './contests/document.ts';
import { files } from './contests/file.ts';
import { mails } from './contests/mail.ts';
import { spreadsheets } from './contests/spreadsheet.ts';

export type { Contest, Credentials } from './contests/contest.ts';

export const contests: readonly Contest[] = [...mails, ...spreadsheets, ...documents, ...files];
