// A wait of Agent Execute on a fake clock. A test plays the channel and the call.
import { addMessages } from '../../../nodes/Agent/AgentExecute/errors';
import { callAndWait } from '../../../nodes/Agent/AgentExecute/wait/callAndWait';
import type { WaitSettings } from '../../../nodes/Agent/AgentExecute/parameters';
import type { Turn } from '../../../nodes/Agent/AgentExecute/wait/turn';
import { NodeError } from '../../../nodes/core/errors';
import { Sanitizer } from '../../../nodes/core/sanitizer';
import { FakeChannels } from '../AgentSessionTrigger/fakeChannels';
import { FakeClock } from '../session/fakeClock';
import { standardOptions } from '../session/fakeSession';

/** Begins a wait. Its outcome is the turn, or what the node makes of the error. */
export function begin(
	more: Partial<WaitSettings> = {},
	stop = new AbortController(),
	sessionKey = 's1',
) {
	const clock = new FakeClock();
	const channels = new FakeChannels();
	const call = jest.fn<Promise<unknown>, [prepareAttempt: () => Promise<void>]>(() =>
		Promise.resolve('answer'),
	);
	const nothing = () => {};
	const end = { waitUntil: 'count', messageCount: 1, waitTimeoutSeconds: 300 };
	const settings: object = {
		...{ ...end, openChannel: 'before', onWaitTimeout: 'error', textField: 'text' },
		...{ deduplicationField: '', ...standardOptions, ...more },
	};
	const waitingCall: {
		turn?: Turn;
		sessionId: string;
		sessionKey: string;
		sanitizer: Sanitizer;
	} = { sessionId: 's1', sessionKey, sanitizer: new Sanitizer() };
	const parts = {
		call: waitingCall,
		settings: settings as WaitSettings,
		readConnectRequest: () => Promise.reject(new Error('not read')),
		signal: stop.signal,
		log: { debug: nothing, info: nothing, warn: nothing },
		clock,
		connect: channels.connect,
		onText: nothing,
	} as const;
	const outcome = callAndWait(parts, async (prepareAttempt) => {
		await prepareAttempt();
		return await call(prepareAttempt);
	}).then(
		() => waitingCall.turn,
		(error: unknown) =>
			error instanceof NodeError ? addMessages(error, waitingCall) : (error as NodeError),
	);
	return { clock, channels, call, outcome, stop, waitingCall };
}
