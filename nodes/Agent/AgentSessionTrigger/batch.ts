export interface Queued {
	readonly sessionId: string;
	readonly byteLength: number;
	/** Events of the connection are queued with the messages, but their loss is none. */
	readonly isMessage: boolean;
}

export interface Delivered<T> {
	readonly entry: T;
	/** On the first message of a session after a loss: how many were dropped since the last one that was delivered. */
	readonly dropped?: number;
}

/** What a queue did not deliver before its end. */
export interface Leftover<T> {
	readonly entries: readonly T[];
	/** By session: how many were dropped since the last one that was delivered. */
	readonly dropped: ReadonlyMap<string, number>;
}
