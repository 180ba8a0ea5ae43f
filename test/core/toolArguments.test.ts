import type { IDataObject } from 'n8n-workflow';

import { refuseUnknownArguments } from '../../nodes/core/toolArguments';
import { Workspace } from '../../nodes/Workspace/Workspace.node';
import { createExecuteContext } from '../createExecuteContext';

/** The context of a tool that AI Agent 3 runs as a node: its item has the fields of the agent's input and the model's arguments. */
function createAgentContext(args: IDataObject, parameters: IDataObject, isOldN8n = false) {
	const json = { chatInput: 'Hello', sessionId: 's1', ...args, toolCallId: 'call-1' };
	const context = createExecuteContext({
		nodeType: new Workspace(),
		node: { type: 'test.workspaceTool' },
		parameters,
		items: [{ json }],
	});
	context.runExecutionData.resultData.runData['Node'] = [
		{
			inputOverride: { ai_tool: [[{ json: isOldN8n ? json : args }]] },
			source: [],
			executionIndex: 0,
			executionTime: 0,
			startTime: 0,
		},
	];
	return context;
}

const parameters = {
	to: "={{ /*n8n-auto-generated-fromAI-override*/ $fromAI('To', ``, 'string') }}",
};

const refusing = (args: IDataObject, isOldN8n?: boolean) => () => {
	refuseUnknownArguments(createAgentContext(args, parameters, isOldN8n), 0);
};

test('an argument that no parameter takes is refused by its name', () => {
	expect(refusing({ To: 'a@example.com', Limit: 0, sessionKey: 'x' })).toThrow(
		"This tool does not take 'Limit', 'sessionKey'",
	);
});

test('fields of the input of the agent are no arguments', () => {
	expect(refusing({ To: 'a@example.com' })).not.toThrow();
});

test('n8n up to 2.0, which takes the input of the agent for arguments, goes on', () => {
	expect(refusing({ To: 'a@example.com', Limit: 0 }, true)).not.toThrow();
});
