const long = process.env.CHAOS === 'long';

/** How much of the random part runs: the short form with every run of the tests, the long one with CHAOS=long. */
export const extent = {
	/** Runs of random faults, each with a seed of its own. */
	seeds: long ? 100 : 4,
	faultsPerRun: long ? 60 : 25,
	/** Connections opened and closed one after another. */
	cycles: long ? 2000 : 100,
	burst: long ? 500_000 : 50_000,
};
