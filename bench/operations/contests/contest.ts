import type { node } from '../../../dev/n8n/nodes.ts';
import type { Order, Seeded } from '../google.ts';

export type Credentials = Readonly<Record<string, { readonly id: string; readonly name: string }>>;
export type Node = ReturnType<typeof node>;
export type Items = ReadonlyArray<Readonly<Record<string, unknown>>>;

export interface Contest {
	/** As in the node's dropdowns. */
	readonly operation: string;
	/** Name of what it is compared with. */
	readonly rival: string;
	/** How many round trips a guard of ours takes for each of the rival's, which has none. Default 1. */
	readonly roundTrips?: number;
	/** What the stand-in must hold for a run of this size. */
	readonly needs: (size: number) => Order;
	readonly items: (size: number, seeded: Seeded) => Items;
	/** Number of items that the last node returns. */
	readonly returns: (size: number) => number;
	readonly ours: (size: number) => Record<string, unknown>;
	/** Nodes that run one after another. */
	readonly theirs: (size: number, credentials: Credentials) => readonly Node[];
}

export const nothing: Order = { mails: 0, documents: 0, rows: 0, emptyRows: 5000 };
export const byId = (value: string) => ({ __rl: true, mode: 'id', value });
export const numbered = (size: number) => Array.from({ length: size }, (_, n) => ({ n }));
export const paragraph = 'A new line of text. ';
