import { channelBase } from '../session/urls';
import { adviceOf, reasonOf } from '../session/errors';
import type { Ending } from '../session/closeReason';
import type { AgentApiCredential } from '../session/identity';
import type { Socket, UpgradeAnswer } from '../session/transport';

/** How long the service may take to respond. */
const timeoutMilliseconds = 15_000;
/** The test receives no messages. */
const maxMessageBytes = 1024;

type ChannelResponse = 'open' | UpgradeAnswer | Ending;
type NotOpen = Exclude<ChannelResponse, 'open'>;

/**
 * Tries to open the channel without a session and without secrets. So a refusal counts as a response.
 * @param isAllowed asks n8n's egress policy
 * @returns what is wrong; undefined if the service, or something like it, responds
 */
export async function channelProblem(
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
