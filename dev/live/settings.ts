import { existsSync, readFileSync } from 'node:fs';

import { MessageOnlyError } from '../n8n/command.ts';

type Fields = Readonly<Record<string, unknown>>;

/** What the live test signs in with. Each part is a credential's fields, as in n8n's form. */
export interface LiveSettings {
	readonly agentApi?: Fields;
	readonly agentSignatureApi?: Fields;
	/** Client ID, client secret, and a refresh token for all scopes. */
	readonly workspaceOAuth2Api?: Fields & {
		readonly clientId: string;
		readonly clientSecret: string;
		readonly refreshToken: string;
	};
	/** The step at which an agent starts. Default `start`. */
	readonly startStepName?: string;
	/** What the agent is asked. Default: to say hello. */
	readonly task?: string;
	/** Where the email goes. Default: the account itself. */
	readonly to?: string;
}

const variables: Readonly<Record<string, keyof LiveSettings>> = {
	LIVE_AGENT_API: 'agentApi',
	LIVE_AGENT_SIGNATURE_API: 'agentSignatureApi',
	LIVE_WORKSPACE_OAUTH2_API: 'workspaceOAuth2Api',
	LIVE_START_STEP_NAME: 'startStepName',
	LIVE_TASK: 'task',
	LIVE_TO: 'to',
};
const isCredential = (key: string) => key.endsWith('Api');

/** Reads the file and the variables, which win. @throws MessageOnlyError if there is nothing to sign in with */
export function liveSettings(file: string, env: NodeJS.ProcessEnv): LiveSettings {
	const settings: Record<string, unknown> = existsSync(file)
		? parsed(readFileSync(file, 'utf8'), file)
		: {};
	for (const [variable, key] of Object.entries(variables)) {
		const value = env[variable];
		if (value === undefined) continue;
		settings[key] = isCredential(key) ? parsed(value, variable) : value;
	}
	const read = settings as LiveSettings;
	const hasAgent = read.agentApi !== undefined && read.agentSignatureApi !== undefined;
	if (!hasAgent && read.workspaceOAuth2Api === undefined) {
		throw new MessageOnlyError(
			`There are no accounts to test with. Put them into ${file}, as CONTRIBUTING.md shows, or into the variables ${Object.keys(variables).join(', ')}.`,
		);
	}
	return read;
}

function parsed(text: string, source: string): Record<string, unknown> {
	try {
		return JSON.parse(text) as Record<string, unknown>;
	} catch {
		// The parser's message quotes the text, which holds secrets.
		throw new MessageOnlyError(`${source} is not valid JSON.`);
	}
}

/** All texts of the credentials that must not appear in a report. */
export function secretsOf(settings: LiveSettings): string[] {
	const { agentApi = {}, agentSignatureApi = {}, workspaceOAuth2Api = {} } = settings;
	return [agentApi, agentSignatureApi, workspaceOAuth2Api, { to: settings.to }]
		.flatMap((fields) => Object.values(fields))
		.filter((value): value is string => typeof value === 'string' && value.length > 3);
}
