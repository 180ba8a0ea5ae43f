// What a comparison of one operation with n8n's own node for the same work consists of.
import { node } from '../../dev/n8n/nodes.ts';
import type { Order, Seeded } from '../google.ts';
import type { Credentials, Step } from '../n8n.ts';

export interface Contest {
	/** As in the node's dropdowns. */
	readonly operation: string;
	/** Name of what it is compared with. */
	readonly rival: string;
	/** What the stand-in must hold for a run of this size. Default: an empty spreadsheet. */
	readonly needs?: (size: number) => Order;
	/** JavaScript of an array with the `json` of the input items. Default: `{ n }` for each number below the size. */
	readonly input?: (size: number, seeded: Seeded) => string;
	readonly ours: (size: number) => Record<string, unknown>;
	/** Nodes that run one after another, the last one named Step. */
	readonly theirs: (size: number) => (credentials: Credentials) => readonly Step[];
	/** Where the target is another one than `usualTarget`: a guard that n8n lacks takes another round trip. */
	readonly atMost?: (size: number) => number;
	/** How many requests are allowed for all items together. */
	readonly requests?: number;
	/** The only numbers of items that make sense. */
	readonly sizes?: readonly number[];
	/** Whether all items need few requests, so that their number may grow to 100,000. */
	readonly grows?: boolean;
}

/** Our time, by that of n8n's own node: no operation takes noticeably longer. */
export const usualTarget = 1.05;

export const byId = (value: string) => ({ __rl: true, mode: 'id', value });
export const byName = (value: string) => ({ __rl: true, mode: 'name', value });
/** Where n8n's Google Drive node puts a file. */
export const myDrive = {
	driveId: { __rl: true, mode: 'list', value: 'My Drive' },
	folderId: { __rl: true, mode: 'list', value: 'root' },
};
/** A column mapper of n8n with a value for each column. */
export const mapColumns = (value: object, ...matchingColumns: string[]) => ({
	...{ mappingMode: 'defineBelow', value, matchingColumns },
	schema: Object.keys(value).map((id) => {
		return { id, displayName: id, type: 'string', display: true };
	}),
});
export const paragraph = 'A new line of text. ';
export const oneItem = () => '[{}]';

/** Makes steps of one of n8n's own nodes from its parameters. */
export const rivalNode =
	(type: string, typeVersion: number, credential: string, common: object = {}) =>
	(parameters: object) =>
	(credentials: Credentials): Step[] => {
		const more = { typeVersion, credentials: { [credential]: credentials[credential] } };
		return [node('Step', `n8n-nodes-base.${type}`, { ...common, ...parameters }, more)];
	};
