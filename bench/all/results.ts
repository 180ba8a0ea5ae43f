import { usualTarget } from '../operations/contest.ts';

/** A benchmark of the whole run. */
export interface Job {
	readonly title: string;
	/** File in bench/ and its arguments. */
	readonly command: readonly string[];
	/** A job that takes longer is ended and counts as failed. */
	readonly limitMinutes: number;
}

export interface Result {
	readonly job: Job;
	/** What was measured, as git names it. */
	readonly commit: string;
	/** Everything on standard output. */
	readonly printed: string;
	/** The end of what was on standard error. */
	readonly complaints: string;
	/** What went wrong; undefined if the job ended with 0. */
	readonly failure: string | undefined;
	readonly seconds: number;
}

/** A line of `reportRatio`. */
interface Ratio {
	readonly name: string;
	readonly value: string;
	readonly wanted: string;
	readonly met: boolean;
}

const ratioLine =
	/^(?<name>\S.*?)\s+(?<value>-?[\d.]+|NaN|Infinity)\s+\((?<wanted>at (?:most|least) [\d.]+): (?<verdict>met|MISSED)\)$/;

export function ratiosOf(printed: string): Ratio[] {
	return printed.split('\n').flatMap((line) => {
		const {
			name = '',
			value = '',
			wanted = '',
			verdict,
		} = ratioLine.exec(line.trimEnd())?.groups ?? {};
		return verdict === undefined ? [] : [{ name, value, wanted, met: verdict === 'met' }];
	});
}

/** The page with all figures. @param facts about the machine and the versions, as name and value */
export function pageOf(
	results: readonly Result[],
	facts: ReadonlyArray<readonly [string, string]>,
): string {
	const ratios = results.flatMap(({ job, printed }) =>
		ratiosOf(printed).map((ratio) => ({ ...ratio, title: job.title })),
	);
	const missed = ratios.filter(({ met }) => !met);
	const failed = results.filter(({ failure }) => failure !== undefined);
	return [
		'# Benchmarks',
		'',
		'Written by `npm run bench`. A ratio compares two figures of the same run, so it depends little on the machine. Each has one target, which',
		`stands in the benchmark: no operation is to take more than ${usualTarget} times as long as n8n's own node for the same work.`,
		'',
		...facts.map(([name, value]) => `- ${name}: ${value}`),
		`- ratios: ${ratios.length - missed.length} met, ${missed.length} missed`,
		...missed.map(({ name, value, wanted }) => `  - missed: ${name}: ${value}, ${wanted}`),
		`- benchmarks that did not end well: ${failed.length === 0 ? 'none' : failed.map(({ job, failure }) => `${job.title} (${String(failure)})`).join(', ')}`,
		'',
		...(ratios.length > 0 ? tableOf(ratios) : []),
		...results.flatMap(sectionOf),
	].join('\n');
}

function tableOf(ratios: ReadonlyArray<Ratio & { readonly title: string }>): string[] {
	return [
		'| benchmark | ratio | value | wanted | |',
		'| --- | --- | --- | --- | --- |',
		...ratios.map(({ title, name, value, wanted, met }) =>
			['', title, name, value, wanted, met ? 'met' : '**missed**', ''].join(' | ').trim(),
		),
		'',
	];
}

function sectionOf({ job, commit, printed, complaints, failure, seconds }: Result): string[] {
	return [
		`## ${job.title}`,
		'',
		`\`node bench/${job.command.join(' ')}\`, ${seconds.toFixed(0)} s, ${commit}${failure === undefined ? '' : `: **${failure}**`}`,
		'',
		'```text',
		printed.trim().replaceAll('```', "'''"),
		...(failure === undefined || complaints === ''
			? []
			: ['', complaints.trim().replaceAll('```', "'''")]),
		'```',
		'',
	];
}
