import type { ITriggerFunctions, ITriggerResponse } from 'n8n-workflow';

import { isNodeError, toNodeError } from '../../core/errors';
import { cleanLog, Sanitizer } from '../../core/sanitizer';
import { systemClock } from '../../core/runtime';
import { connect } from '../session/sessionConnection';
import { identityReader, type ReadIdentity } from '../session/connectRequest';
import { channelUrl } from '../session/urls';
import { connectRateLimiterOf } from '../session/reconnect';
import { triggerError } from './alerts';
import { memoryOf, nodeKey, release, spentInProcess, StopBudget, takeOver } from './triggerState';
import { Listening } from './listener';
import { manualListening } from './testListener';
import { type TriggerSettings, triggerSettings } from './settings';

/**
 * Starts to listen. Network problems never make it fail, because n8n would not try again.
 * @throws NodeApiError when something that the user gave is missing or wrong
 */
export async function listen(n8n: ITriggerFunctions): Promise<ITriggerResponse> {
	const logger = cleanLog(n8n.logger, new Sanitizer());
	// Inherits everything else, including what n8n replaces later.
	const context = Object.create(n8n, { logger: { value: logger } }) as ITriggerFunctions;
	const { settings, readIdentity } = await checkedParts(context);
	const parts = { context, settings, readIdentity, clock: systemClock, connect };
	if (context.getMode() === 'manual') return manualListening(parts);

	const key = nodeKey(String(context.getWorkflow().id), context.getNode().id);
	const listening = new Listening({
		...parts,
		rateLimiter: connectRateLimiterOf(context.getNode().credentials?.agentApi?.id ?? key),
		memory: memoryOf(key),
		stopBudget: new StopBudget(systemClock, spentInProcess()),
	});
	await takeOver(key, listening);
	listening.start();
	return {
		closeFunction: () => release(key, listening),
	};
}

async function checkedParts(
	context: ITriggerFunctions,
): Promise<{ settings: TriggerSettings; readIdentity: ReadIdentity }> {
	try {
		const settings = triggerSettings(context);
		const readIdentity = identityReader(context);
		await checkCredentials(context, readIdentity, settings.sessionIds);
		return { settings, readIdentity };
	} catch (error) {
		throw triggerError(context, toNodeError(error));
	}
}

/** n8n's database or a vault may be out of reach for a moment: that is tried again, like any outage. */
async function checkCredentials(
	context: ITriggerFunctions,
	readIdentity: ReadIdentity,
	sessionIds: readonly string[],
): Promise<void> {
	try {
		const { api, identity } = await readIdentity();
		for (const sessionId of sessionIds) channelUrl(api, sessionId, identity);
	} catch (error) {
		const { credentials } = context.getNode();
		const isChosen = credentials?.agentApi !== undefined && credentials.agentSignatureApi !== undefined;
		if (isNodeError(error) || !isChosen || context.getMode() === 'manual') throw toNodeError(error);
		context.logger.warn(`Session channel: the credentials could not be read: ${toNodeError(error).message}`);
	}
}
