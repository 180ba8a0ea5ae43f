import { generateKeyPairSync } from 'node:crypto';
import type { IBinaryKeyData, IDataObject, INode, INodeExecutionData } from 'n8n-workflow';

import { buildEndpoints, buildSignedInCredential } from '../../dev/google/credential';
import { startGoogle, type GoogleServer, type LoggedRequest } from '../../dev/google/server';
import { standardScopes } from '../../dev/google/tokens';
import { WorkspaceServiceAccountApi } from '../../credentials/WorkspaceServiceAccountApi.credentials';
import { Workspace } from '../../nodes/Workspace/Workspace.node';
import { binary } from '../Workspace/actions/mail/mails';
import { file, multipart, plain } from '../Workspace/actions/mail/parts';
import { createExecuteContext, loadBinaryData } from '../createExecuteContext';
import { turns } from '../turns';
import { largeField, marker, type Seeds } from './samples';

// One line for each wait would be thousands.
process.env.N8N_LOG_LEVEL = 'silent';

const documentType = 'application/vnd.google-apps.document';
const spreadsheetType = 'application/vnd.google-apps.spreadsheet';

const buildLine = (text: string, namedStyleType = 'NORMAL_TEXT') => ({
	paragraph: {
		elements: [{ textRun: { content: `${text}\n` } }],
		paragraphStyle: { namedStyleType },
	},
});

const attachedFile = multipart('mixed', plain('Hi'), file('a.txt'));

interface RunOptions {
	/** One per item. */
	readonly inputs: readonly unknown[];
	readonly options?: IDataObject;
	readonly node?: Partial<INode>;
	readonly executionId?: string;
	/** Default `oAuth2`. */
	readonly authentication?: 'oAuth2' | 'serviceAccount';
}

const { publicKey, privateKey } = generateKeyPairSync('rsa', {
	modulusLength: 2048,
	publicKeyEncoding: { type: 'spki', format: 'pem' },
	privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
});
const user = 'someone@example.com';
const robot = 'robot@project.example';

const small = { one: binary('1', 'one.txt'), two: binary('2', 'two.txt') };
const large = binary(Buffer.alloc(5_100_000), 'large.bin');

/** The binary data of an item; the large file only where the input names it. */
function filesFor({ binaryPropertyName: names }: IDataObject): IBinaryKeyData {
	const isLarge = (names as readonly string[] | undefined)?.includes(largeField);
	return isLarge ? { [largeField]: large } : small;
}

/** Whether a request is one to an API, and none for a token. */
export const isCall = ({ method }: LoggedRequest): boolean => !method?.startsWith('oauth.');

/** A stand-in for Google with something in it, and the whole node against it. */
export class World {
	readonly google: GoogleServer;
	readonly seeds: Seeds;
	private readonly tokens: { accessToken: string; refreshToken: string };

	private constructor(google: GoogleServer) {
		this.google = google;
		const grant = { scopes: [...standardScopes, 'gmail.compose', 'gmail.modify'] };
		const { tokens } = google;
		this.tokens = {
			accessToken: tokens.issue(grant),
			refreshToken: tokens.issueRefresh(grant),
		};
		const heading = buildLine('Results', 'HEADING_1');
		const body = [buildLine('First line'), heading, buildLine('None yet')];
		const raw = `Subject: File\r\n${attachedFile.replaceAll('\n', '\r\n')}`;
		const textFile = { name: 'b.txt', mimeType: 'text/plain', clientId: '' };
		const tabs = [{ title: 'Sheet1', rows: [['Name']] }];
		this.seeds = {
			documentId: google.docs.seed({ title: 'Report', tabs: [{ title: 'Tab 1', body }] }),
			spreadsheetId: google.sheets.seed({ title: 'Book', tabs }),
			messageId: google.gmail.seed({ subject: `About ${marker}` }),
			mailWithFileId: google.gmail.seed({ raw }),
			driveFileId: google.drive.seedFile(textFile, Buffer.from('b')),
		};
	}

	static async start(): Promise<World> {
		const serviceAccounts = [{ email: robot, publicKey, delegates: [user] }];
		return new World(await startGoogle({ users: [user], serviceAccounts }));
	}

	/** Runs the node once. @throws what n8n would show */
	async run(run: RunOptions): Promise<INodeExecutionData[]> {
		const context = createExecuteContext({
			...this.describeRun(run),
			nodeType: new Workspace(),
			credentialTypes: { workspaceServiceAccountApi: new WorkspaceServiceAccountApi() },
		});
		const [items = []] = await new Workspace().execute.call(context);
		return await loadBinaryData(items);
	}

	/** The context of a run, as far as it can be sent to another process. */
	describeRun({ inputs, options, authentication = 'oAuth2', ...more }: RunOptions) {
		return {
			...(authentication === 'oAuth2' ? this.signIn() : this.#signInAsRobot()),
			...more,
			parameters: { authentication, inputMode: 'json', inputObject: '={{ $json.input }}' },
			items: inputs.map((input) => ({
				json: { input: { ...(input as IDataObject), ...options } },
				binary: filesFor(input as IDataObject),
			})),
		};
	}

	signIn() {
		const { url } = this.google;
		const own = { grantType: 'authorizationCode', authentication: 'body' };
		const signedIn = { ...buildSignedInCredential(url, this.tokens), ...own };
		const workspaceOAuth2Api = { ...signedIn, accessTokenUrl: `${url}/token` };
		return { oAuth2: true, credentials: { workspaceOAuth2Api } };
	}

	#signInAsRobot() {
		const workspaceServiceAccountApi = {
			...buildEndpoints(this.google.url),
			email: robot,
			privateKey,
			delegatedEmail: user,
			driveAccess: 'allFiles',
			scope: 'https://www.googleapis.com/auth/spreadsheets',
			accessToken: '',
		};
		return { oAuth2: false, credentials: { workspaceServiceAccountApi } };
	}

	/** How often a text stands in what the account has: sent mails, drafts, and names and contents of files. */
	traces(text = marker): number {
		const { gmail, files, docs, sheets } = this.google;
		const kept = files.listAll().flatMap(({ id, name, mimeType, trashed }) => {
			if (trashed) return [];
			if (mimeType === documentType) return [name, docs.text(id)];
			if (mimeType === spreadsheetType)
				return [name, JSON.stringify(sheets.values(id, 'A1:Z1000'))];
			return [name];
		});
		const mails = [...gmail.sent, ...gmail.drafts].map(({ raw }) => raw.toString('latin1'));
		const all = [...mails, ...kept].join('\n');
		return all.split(text).length - 1;
	}

	/** Requests to the APIs, without those for a token. */
	get requests(): number {
		return this.google.requests.filter(isCall).length;
	}

	/** Gives the stand-in a moment to finish what it was asked, before its content is looked at. */
	async settled(): Promise<void> {
		await turns(20);
	}

	async close(): Promise<void> {
		await this.google.close();
	}
}
