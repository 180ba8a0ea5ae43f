import type { Execution, WorkflowDefinition } from './n8n/n8nApi.ts';

/** Prints the output of each node of a run. @returns whether the run succeeded */
export function printRun(workflow: WorkflowDefinition, execution: Execution): boolean {
	console.log(`\n── ${workflow.name} ──`);
	for (const { name, type, parameters } of workflow.nodes as unknown as ShownNode[]) {
		const run = execution.resultData.runData[name]?.at(-1);
		if (!run) continue;
		console.log(`\n${name} (${run.executionTime} ms)`);
		if (type.startsWith('n8n-nodes-agent-workspace.')) {
			for (const [key, value] of Object.entries(parameters)) console.log(`  in   ${key}: ${oneLine(value)}`);
		}
		for (const { json } of run.data?.main?.[0] ?? []) console.log(asOutput(JSON.stringify(json, null, 2)));
		if (run.error) console.log(asOutput(`${run.error.message}\n${run.error.description ?? ''}`));
	}
	console.log(`\n${execution.status === 'success' ? 'Succeeded' : `Ended with ${execution.status}`}.`);
	return execution.status === 'success';
}

const columns = 110;

/** One line for each node of a run: how many items it gave, and the beginning of the first. @returns whether the run succeeded */
export function printSummary(workflow: WorkflowDefinition, execution: Execution): boolean {
	console.log(`\n${workflow.name}`);
	for (const { name } of workflow.nodes as unknown as ShownNode[]) {
		const run = execution.resultData.runData[name]?.at(-1);
		if (!run) continue;
		const items = run.data?.main?.flat().filter((item) => item !== null) ?? [];
		const said = run.error?.message ?? JSON.stringify(items[0]?.json ?? {});
		const line = `  ${name.slice(0, 34).padEnd(34)} ${String(items.length).padStart(2)} item${items.length === 1 ? ' ' : 's'}  ${said}`;
		console.log(line.length > columns ? `${line.slice(0, columns - 2)} …` : line);
	}
	return execution.status === 'success';
}

interface ShownNode {
	readonly name: string;
	readonly type: string;
	readonly parameters: Readonly<Record<string, unknown>>;
}

function oneLine(value: unknown): string {
	return typeof value === 'string' ? value : JSON.stringify(value);
}

function asOutput(text: string): string {
	return text.replace(/^/gm, '  out  ');
}
