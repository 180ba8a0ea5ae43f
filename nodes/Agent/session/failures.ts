import type { UpgradeAnswer } from './transport';

/** How a channel ended, or why it never opened. Texts are redacted. */
export type Ending =
	/** The server sent a close frame; 1005 when the frame had no code. */
	| { readonly kind: 'closeFrame'; readonly code: number; readonly reason: string }
	/** The connection broke off without a close frame. */
	| { readonly kind: 'dropped' }
	/** The server answered the upgrade with a status. */
	| { readonly kind: 'answer'; readonly answer: UpgradeAnswer }
	/** `code` is Node's, e.g. ECONNREFUSED. */
	| { readonly kind: 'network'; readonly code: string | undefined; readonly message: string }
	/** Not open in time. */
	| { readonly kind: 'connectTimeout' }
	/** No answer to a ping. */
	| { readonly kind: 'silent' }
	/** A message above the limit. */
	| { readonly kind: 'tooLarge'; readonly maxMessageBytes: number }
	/** The credentials could not be read, or are not complete. */
	| { readonly kind: 'credentials'; readonly message: string };

/** `retry`: backoff; `suspect`: once more at once, with credentials read anew; `final`: only the slow lane tries again. */
export type Verdict = 'retry' | 'suspect' | 'final';
