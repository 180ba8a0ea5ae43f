import { SteadyClock } from '../steadyClock';

/** A clock that is fast, so that 45 s pass in two. With a factor of 0 it stands between its jumps. */
export class FastClock extends SteadyClock {
	constructor(factor = 20) {
		super(factor);
	}
}
