import type { Execution, WorkflowDefinition } from './n8n/n8nApi.ts';

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
}
