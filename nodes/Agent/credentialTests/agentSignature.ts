import type { ICredentialDataDecryptedObject, INodeCredentialTestResult } from 'n8n-workflow';

import { toNodeError } from '../../core/errors';
import { checkHostNames } from '../session/urls';
import { agentSignatureCredential, identityOf } from '../session/credentials';

const labels = { userId: 'User ID', userPublicKey: 'User Public Key', signature: 'Signature' } as const;

/** The test of the Agent Signature API credential: checks the format of the values. Only a real call shows whether they are accepted. */
export function checkSignature(data: ICredentialDataDecryptedObject): INodeCredentialTestResult {
	for (const key of ['userId', 'userPublicKey', 'signature'] as const) {
		const problem = hexProblem(data[key]);
		if (problem) return { status: 'Error', message: `'${labels[key]}' ${problem}` };
	}
	try {
		const credential = agentSignatureCredential(data);
		identityOf(credential);
		checkHostNames(credential);
		return { status: 'OK', message: 'The format is valid' };
	} catch (error) {
		// n8n's form shows the message only.
		const { message, description } = toNodeError(error);
		return { status: 'Error', message: [message, description].filter(Boolean).join('. ') };
	}
}

function hexProblem(value: unknown): string | undefined {
	if (typeof value !== 'string' || value === '') return 'is empty';
	if (value !== value.trim()) return 'begins or ends with a space';
	if (!/^(0x)?[0-9a-f]+$/i.test(value))
		return 'contains characters other than 0–9 and a–f (a leading 0x is allowed)';
	return undefined;
}
