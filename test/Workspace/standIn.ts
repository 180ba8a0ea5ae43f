import { expectNoViolations, startGoogle, type GoogleServer } from '../../dev/google/server';

/** The stand-in of Google for a test file: empty before each test, and none of them may break the contract. */
export class StandIn {
	google!: GoogleServer;

	constructor() {
		beforeAll(async () => {
			this.google = await startGoogle();
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
