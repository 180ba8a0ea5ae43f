import type {
	ICredentialDataDecryptedObject,
	ICredentialTestFunctions,
	INodeCredentialTestResult,
} from 'n8n-workflow';

import { isFailure } from '../../core/errors';
import { discard } from '../../http/request';
import { causesOf } from '../../http/networkErrors';
import { isBlocked } from '../../http/networkErrors';
import { type TestResponse, testRequest, testTimeoutSeconds } from '../../http/request';
import { thrownFault } from '../AgentExecute/errors';
import type { CloseReason } from '../session/closeReason';
import { adviceOf, reasonOf } from '../session/errors';
import { type AgentApiCredential, agentApiCredential, redactorOf } from '../session/credentials';
import type { Socket, UpgradeAnswer } from '../session/webSocket';
import { channelBase, executeUrl } from '../session/urls';

/** How long the service may take to respond. */
const timeoutMilliseconds = 15_000;
/** The test receives no messages. */
const maxMessageBytes = 1024;

type ChannelResponse = 'open' | UpgradeAnswer | CloseReason;
type NotOpen = Exclude<ChannelResponse, 'open'>;

/**
 * Tries to open the channel without a session and without secrets. So a refusal counts as a response.
 * @param isAllowed asks n8n's egress policy
 * @returns what is wrong; undefined if the service, or something like it, responds
 */
async function channelProblem(
	api: AgentApiCredential,
	isAllowed: (address: URL) => Promise<boolean>,
): Promise<string | undefined> {
	const url = channelBase(api);
	const sign: ChannelResponse = (await isAllowed(url))
		? await knock(url, api.allowUnauthorizedCerts)
		: { kind: 'blocked' };
	if (sign === 'open') return undefined;
	const place = `the WebSocket URL (${url.host}${url.pathname})`;
	if ('kind' in sign) return `Could not connect to ${place}: ${reasonOf(sign)}. ${adviceOf(sign, 0)}`;
	return answerProblem(sign, place);
}

function answerProblem(
	{ statusCode, contentType, fromProxy }: UpgradeAnswer,
	place: string,
): string | undefined {
	if (fromProxy) return `The proxy responds with status ${statusCode} for ${place}`;
	if (statusCode >= 300 && statusCode <= 399)
		return `There is a redirect (${statusCode}) at ${place}, which is not followed. Use the final address`;
	if (statusCode <= 299 && contentType?.includes('text/html'))
		return `There is a web page at ${place}, not a session channel. Check its host, port and path`;
	if (statusCode === 404)
		return `Nothing was found at ${place} (404). Check its path, to which the node adds '/ws'. If the service returns 404 whenever no session is given, this is fine`;
	if (statusCode >= 502 && statusCode <= 504)
		return `The service behind ${place} is not running (${statusCode})`;
	return undefined;
}

async function knock(url: URL, allowUnauthorizedCerts: boolean): Promise<ChannelResponse> {
	const { openSocket } = await import('../session/webSocket');
	const request = {
		url: url.href,
		handshakeTimeoutMilliseconds: timeoutMilliseconds,
		maxMessageBytes,
		allowUnauthorizedCerts,
	};
	return await new Promise((resolve) => {
		let cause: NotOpen = { kind: 'dropped' };
		const over = { socket: undefined as Socket | undefined };
		const tell = (sign: ChannelResponse) => {
			clearTimeout(timer);
			resolve(sign);
			over.socket?.terminate();
		};
		// The handshake's own timeout restarts with every byte.
		const timer = setTimeout(() => {
			tell({ kind: 'connectTimeout' });
		}, timeoutMilliseconds);
		over.socket = openSocket(request, {
			opened: () => {
				tell('open');
			},
			message: () => {},
			control: () => {},
			refused: (answer) => {
				cause = answer;
			},
			failed: (error: Error & { code?: unknown }) => {
				const code = typeof error.code === 'string' ? error.code : undefined;
				if ('kind' in cause) cause = { kind: 'network', code, message: error.message };
			},
			closed: () => {
				tell(cause);
			},
		});
	});
}

/**
 * The test of the Agent API credential: whether something that could be the service responds at both addresses. The Deployment URL gets
 * a GET, which never starts an agent. How a service responds to it is unknown, so any status other than a refusal counts as a response.
 */
export async function checkAgentApi(
	helpers: ICredentialTestFunctions['helpers'],
	data: ICredentialDataDecryptedObject,
): Promise<INodeCredentialTestResult> {
	try {
		const api = agentApiCredential(data);
		const url = executeUrl(api);
		channelBase(api);
		if (/\/execute\/*$/.test(api.deploymentUrl)) {
			return refused("Enter the Deployment URL without '/execute'. The node adds it");
		}
		const answer = await testRequest(helpers, {
			method: 'GET',
			uri: url,
			headers: { 'x-api-key': api.apiKey },
			rejectUnauthorized: !api.allowUnauthorizedCerts,
		});
		discard(answer);
		const isAllowed = async (address: URL) => await mayBeReached(helpers, address, new URL(url));
		const problem = callProblem(answer, url) ?? (await channelProblem(api, isAllowed));
		return problem === undefined ? { status: 'OK', message: 'Both addresses respond' } : refused(problem);
	} catch (error) {
		return refused(failureText(error, data));
	}
}

/**
 * Whether n8n's egress policy allows a socket to this address. Unlike nodes, credential tests have no filter for sockets. Their requests
 * follow the policy, so the test makes one. The policy is per host: a host that was already requested needs no further request.
 */
async function mayBeReached(
	helpers: ICredentialTestFunctions['helpers'],
	{ href, hostname }: URL,
	reached: URL,
): Promise<boolean> {
	if (hostname === reached.hostname) return true;
	return await testRequest(helpers, { method: 'HEAD', uri: href.replace(/^ws/, 'http') }).then(
		(answer) => {
			discard(answer);
			return true;
		},
		// The socket runs into any other problem too, and reports it better.
		(error: unknown) => !causesOf(error).some(isBlocked),
	);
}

function callProblem({ statusCode, headers }: TestResponse, url: string): string | undefined {
	const { host } = new URL(url);
	if (statusCode === 401 || statusCode === 403) return `${host} refused the API key (${statusCode})`;
	if (statusCode >= 300 && statusCode <= 399) {
		return `${host} responds with a redirect (${statusCode}), which is not followed. Use the final address`;
	}
	const isPage = (headers['content-type'] ?? '').includes('text/html');
	if (isPage && statusCode <= 299) {
		return `${host} returns a web page instead of an API response. Check the host, port and path of the Deployment URL`;
	}
	if (statusCode === 502 || statusCode === 503 || statusCode === 504) {
		return `${host} responds, but the service behind it is not running (${statusCode})`;
	}
	return undefined;
}

function failureText(error: unknown, data: ICredentialDataDecryptedObject): string {
	if (isFailure(error)) return withDescription(error);
	const api = agentApiCredential(data);
	const facts = {
		url: executeUrl(api),
		timeoutSeconds: testTimeoutSeconds,
		redact: redactorOf([api.apiKey]),
	};
	return withDescription(thrownFault(error, facts).failure);
}

function withDescription({
	message,
	description,
	code,
}: {
	message: string;
	description?: string;
	code: number;
}): string {
	// What to do after an unanswered execute call does not apply: none was made.
	return description === undefined || code === 504 ? message : `${message}. ${description}`;
}

function refused(message: string): INodeCredentialTestResult {
	return { status: 'Error', message };
}
