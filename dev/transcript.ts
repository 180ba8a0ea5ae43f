import type { Execution, WorkflowDefinition } from './n8n/rest.ts';

/** Prints what each node of a run gave. @returns whether the run succeeded */
export function printRun(workflow: WorkflowDefinition, execution: Execution): boolean {
	console.log(`\n── ${workflow.name} ──`);
	for (const { name, parameters } of workflow.nodes as Array<{ name: string; parameters: object }>) {
		const run = execution.resultData.runData[name]?.at(-1);
		if (!run) continue;
		const given = Object.keys(parameters).length > 0 ? `  ${oneLine(parameters)}` : '';
		console.log(`\n${name} (${run.executionTime} ms)${given}`);
		for (const { json } of run.data?.main?.[0] ?? []) console.log(indented(JSON.stringify(json, null, 2)));
		if (run.error) console.log(indented(`${run.error.message}\n${run.error.description ?? ''}`));
	}
	console.log(`\n${execution.status === 'success' ? 'Succeeded' : `Ended with ${execution.status}`}.`);
	return execution.status === 'success';
}

function oneLine(value: object): string {
	const text = JSON.stringify(value);
	return text.length > 120 ? `${text.slice(0, 120)}…` : text;
}

function indented(text: string): string {
	return text.replace(/^/gm, '    ');
}
