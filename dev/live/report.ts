import type { LiveReport } from './run.ts';

/** What nobody can ask within a few minutes, or without doing harm. */
const notAsked = [
	'how many requests a minute Google allows, and whether it sends Retry-After when they are used up',
	'whether the address of an upload is valid for a week',
	'what two appends at the same moment do to each other',
	'emails in old charsets, and attachments without an ID: they must be received from others',
	'what smaller scopes reach, because a refresh token has the scopes that it was given',
];

/** The report for an issue. @param facts about machine and versions @throws if it contains a secret */
export function reportOf(
	{ outcomes, facts }: LiveReport,
	secrets: readonly string[],
	versions: Readonly<Record<string, string>>,
): string {
	const cell = (text: string) =>
		hidden(text.replaceAll('|', '/').replaceAll(/\s+/g, ' ').trim(), secrets);
	const wrong = facts.filter(({ verdict }) => verdict === 'WRONG');
	const counts = ['done', 'failed', 'not run'].map(
		(result) => `${outcomes.filter((one) => one.result === result).length} ${result}`,
	);
	const page = [
		'# Live test',
		'',
		...Object.entries(versions).map(([name, version]) => `- ${name}: ${version}`),
		`- operations: ${counts.join(', ')}`,
		`- facts found wrong: ${wrong.length}`,
		'',
		'| what | result | ms | remark |',
		'| --- | --- | --- | --- |',
		...outcomes.map(
			({ name, result, milliseconds, remark }) =>
				`| ${name} | ${result} | ${milliseconds} | ${cell(remark)} |`,
		),
		'',
		'| what the package relies on, or asks | what Google did | verdict |',
		'| --- | --- | --- |',
		...facts.map(({ claim, seen, verdict }) => `| ${claim} | ${cell(seen)} | ${verdict} |`),
		'',
		'Not asked:',
		'',
		...notAsked.map((question) => `- ${question}`),
		'',
	].join('\n');
	if (secrets.some((secret) => page.includes(secret)))
		throw new Error('The report would contain a secret');
	return page;
}

/** Without secrets, addresses and long IDs. */
function hidden(text: string, secrets: readonly string[]): string {
	return secrets
		.reduce((rest, secret) => rest.replaceAll(secret, '…'), text)
		.replaceAll(/[\w.+-]+@[\w-]+(?:\.[\w-]+)+/g, '…@…')
		.replaceAll(/(?:https?|wss?):\/\/[^\s"]+/g, '…')
		.replaceAll(/[\w-]{20,}/g, '…');
}
