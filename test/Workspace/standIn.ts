import { expectNoViolations, startGoogle, type GoogleServer } from '../../dev/google/server';
import { withBinaryData } from '../createExecuteContext';
import { token } from './runNode';

/** The stand-in of Google for a test file: empty before each test, and none of them may break the contract. */
export class StandIn {
	google!: GoogleServer;

	constructor(options: Parameters<typeof startGoogle>[0] = {}) {
		beforeAll(async () => {
			this.google = await startGoogle(options);
		});
		beforeEach(() => {
			this.google.reset();
		});
		afterEach(() => {
			expectNoViolations(this.google);
		});
		afterAll(async () => {
			jest.restoreAllMocks();
			await this.google.close();
		});
	}
}

/** The same for runs of the whole node: before each test, the stand-in knows their token. */
export function useGoogle(
	use: (google: GoogleServer) => void,
	options: Parameters<typeof startGoogle>[0] = {},
): void {
	const standIn = new StandIn(options);
	beforeAll(async () => {
		await withBinaryData();
		use(standIn.google);
	});
	beforeEach(() => {
		standIn.google.tokens.issue({ token });
	});
}
