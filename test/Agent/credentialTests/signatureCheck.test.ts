import { checkSignature } from '../../../nodes/Agent/credentialTests/agentCredentials';

const right = {
	userId: '0x5aed',
	userPublicKey: '04bfca',
	signature: '0xDEADbeef',
	timestampMode: 'current',
};

test('values of the right form pass, with and without 0x', () => {
	expect(checkSignature(right)).toMatchObject({ status: 'OK' });
	expect(checkSignature({ ...right, timestampMode: 'issued', issuedTimestamp: 1795253731904 })).toMatchObject(
		{
			status: 'OK',
		},
	);
});

test.each([
	['an empty user ID', { userId: '' }, "'User ID' is empty"],
	['a user ID that is no text', { userId: 7 }, "'User ID' is empty"],
	['a host that is none', { allowedHosts: 'a b' }, "contains 'a b', which is not a host name. Enter names"],
	['a space at the end', { signature: '0xab ' }, "'Signature' begins or ends with a space"],
	['a letter that is no hex digit', { userPublicKey: '0xyz' }, "'User Public Key' contains characters other"],
	[
		'an issued timestamp in seconds',
		{ timestampMode: 'issued', issuedTimestamp: 1795253731 },
		'is not a time in milliseconds',
	],
	['no issued timestamp', { timestampMode: 'issued' }, 'received no timestamp with the signature'],
	[
		'an issued timestamp of 0',
		{ timestampMode: 'issued', issuedTimestamp: 0 },
		"set 'Timestamp' to 'Current'",
	],
])('%s is named', (_name, wrong, message) => {
	const result = checkSignature({ ...right, ...wrong });
	expect(result).toMatchObject({ status: 'Error', message: expect.stringContaining(message) as string });
	expect(result.message).not.toContain(right.signature);
});
