import type { ITriggerFunctions } from 'n8n-workflow';

import type { Clock } from '../../core/clock';
import type { connect } from '../session/connection';
import type { ConnectRequestReader } from '../session/connectRequest';
import type { TriggerSettings } from './fields';

/** What the test in the editor and the published trigger need to listen. */
export interface ListenerSetup {
	readonly context: ITriggerFunctions;
	readonly settings: TriggerSettings;
	readonly readConnectRequest: ConnectRequestReader;
	readonly clock: Clock;
	readonly connect: typeof connect;
}
