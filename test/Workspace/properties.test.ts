import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import {
	type INodePropertyCollection,
	type INode,
	type INodeParameters,
	type INodeProperties,
	NodeHelpers,
	type IDataObject,
} from 'n8n-workflow';

import { expectNoViolations, startGoogle, type GoogleServer } from '../../dev/google/server';
import { standardScopes } from '../../dev/google/tokens';
import { getCollectionName } from '../../nodes/fields/field';
import { readParameters } from '../../nodes/fields/params';
import { getAllFields } from '../../nodes/Workspace/operation';
import { toolDescriptions } from '../../nodes/Workspace/properties';
import { resources } from '../../nodes/Workspace/resources';
import { Workspace } from '../../nodes/Workspace/Workspace.node';
import { findDisagreements, type Schema } from '../outputSchema';
import { runNode, token } from './runNode';

const { description } = new Workspace();
const node = { typeVersion: 1 };

/** What n8n reads of a saved node, with defaults where these are wanted. */
function readSaved(saved: INodeParameters, withDefaults: boolean, own = description) {
	const { properties } = own;
	return NodeHelpers.getNodeParameters(properties, saved, withDefaults, false, node, own) ?? {};
}

/** What the editor shows with these values. */
function shown(values: INodeParameters): INodeProperties[] {
	return description.properties.filter((property) =>
		NodeHelpers.displayParameter(values, property, node, description),
	);
}

const locator = { mode: 'list', value: '' };
const locatorOption = { __rl: true, ...locator };
const columns = { mappingMode: 'defineBelow', value: null };
const content = { content: '', contentFormat: 'text' };

const rangeFields = { received: 'any', returnAll: false, maxResults: 25 };

const allWith =
	<T>(value: T) =>
	(...names: string[]): Record<string, T> =>
		Object.fromEntries(names.map((name) => [name, value]));
const empty = allWith('');
const off = allWith(false);

/** Names and defaults that saved workflows depend on: the public interface. */
const fields: Record<string, Record<string, unknown>> = {
	'mail send': {
		...{ email: 'new', ...empty('to', 'subject', 'body') },
		...{ bodyFormat: 'text', attachments: '', sendAs: 'send' },
	},
	'mail list': { from: '', status: 'any', ...rangeFields },
	'mail search': { query: '', ...rangeFields },
	'mail read': { messageId: '' },
	'spreadsheet create': { title: '', parentFolder: locator },
	'spreadsheet read': {
		...{ spreadsheetId: locator, tab: locator },
		...{ matchType: 'allConditions', filters: {}, output: 'rows' },
	},
	'spreadsheet write': {
		...{ spreadsheetId: locator, tab: locator, writeMode: 'updateOrAdd', matchColumns: [] },
		...{ valuesSource: 'columns', columns },
	},
	'spreadsheet append': {
		spreadsheetId: locator,
		tab: locator,
		valuesSource: 'columns',
		columns,
	},
	'document create': { title: '', from: 'content', ...content, parentFolder: locator },
	'document read': { documentId: locator, format: 'text' },
	'document write': {
		...{ documentId: locator, replace: 'section', section: locator, tab: locator },
		...content,
	},
	'document append': { documentId: locator, ...content },
	'file upload': {
		...{ binaryPropertyName: '', parentFolder: locator, name: '' },
		...{ contentSource: 'binary', mimeType: '' },
	},
};

const headerOptions = { headerRow: 1, extraColumns: 'error' };

const labelOptions = { addLabels: [], removeLabels: [], ...off('markAsRead') };
const listOptions = {
	...labelOptions,
	...{ labelIds: [], onlyFiles: '', output: 'items', pageToken: '' },
	...off('includeBody', 'newTextOnly', 'downloadAttachments'),
};
const writeOptions = { valueInputOption: 'AUTO', escapeFormulas: true, createTab: false };

const options: Record<string, Record<string, unknown>> = {
	'mail send': {
		...empty('cc', 'bcc', 'replyTo', 'idempotencyKey', 'senderName', 'driveFiles'),
		...empty('fromAlias', 'allowedRecipients', 'onlyFiles'),
		...off('replyAll', 'quoteOriginal', 'includeSignature'),
		headers: {},
	},
	'mail list': listOptions,
	'mail search': listOptions,
	'mail read': {
		...labelOptions,
		...off('downloadAttachments', 'includeHeaders', 'newTextOnly', 'wholeConversation'),
		...{ onlyFiles: '', startCharacter: 0 },
	},
	'spreadsheet create': { idempotencyKey: '', sheets: '', values: '[]' },
	'spreadsheet read': {
		...{ headerRow: 1, range: '', maxRows: 0, startRow: 0 },
		...{ valueRenderOption: 'UNFORMATTED_VALUE', dateTimeRenderOption: 'ISO_8601' },
	},
	'spreadsheet write': { ...writeOptions, ...headerOptions, unmatched: 'error', range: '' },
	'spreadsheet append': { ...writeOptions, ...headerOptions, range: '' },
	'document create': { idempotencyKey: '', ...off('includeBody', 'insertImages') },
	'document read': { tab: locatorOption, startCharacter: 0 },
	'document write': { ...off('fillFromInput', 'createTab', 'insertImages'), replacements: {} },
	'document append': {
		...{ idempotencyKey: '', tab: locatorOption, underHeading: locatorOption },
		...off('createTab', 'insertImages'),
	},
	'file upload': {
		...{ convertTo: 'none', onExisting: 'createNew' },
		...empty('description', 'idempotencyKey', 'onlyFiles'),
	},
};

const common = {
	includeInputFields: false,
	timeLimits: { limits: { maxRetryWaitSeconds: 120, timeoutSeconds: 300 } },
};
const operations = resources.flatMap((resource) =>
	resource.operations.map((operation) => ({
		resource,
		operation,
		key: `${resource.value} ${operation.value}`,
	})),
);

function valuesOf(key: string): INodeParameters {
	const [resource, operation] = key.split(' ');
	return { authentication: 'oAuth2', inputMode: 'fields', resource, operation, ...common };
}

/** A collection without a row is gone as soon as another field changes. */
const firstRows: Record<string, object> = {
	filters: { filter: [{ column: '', condition: 'equals', value: '' }] },
	headers: { header: [{ name: '', value: '' }] },
	replacements: { replacement: [{ find: '', replace: '', format: 'text' }] },
};

/** An option that is added to say yes says yes at once; what it is where nobody added it, `options` says. */
const whenAdded = (values: Record<string, unknown>) =>
	Object.fromEntries(
		Object.entries(values).map(([name, value]) => [
			name,
			typeof value === 'boolean' || (firstRows[name] ?? value),
		]),
	);

test('a row that nobody filled in means nothing', () => {
	const all = operations.flatMap(({ operation }) => getAllFields(operation));
	for (const [name, row] of Object.entries(firstRows)) {
		const found = all.filter((field) => field.name === name);
		expect(found.length).toBeGreaterThan(0);
		const given = { output: 'rows', [name]: row };
		for (const field of found) {
			const shown = { ...field, showWhen: undefined };
			const read = readParameters([shown], given, { mode: 'fields', timezone: 'UTC' });
			expect(read).toEqual({ [name]: [] });
		}
	}
});
const defaultsOf = (properties: INodeProperties[]) =>
	Object.fromEntries(properties.map((property) => [property.name, property.default]));

test('the operations, and the defaults of the dropdowns', () => {
	expect(operations.map(({ key }) => key).sort()).toEqual(Object.keys(fields).sort());
	expect(description.properties.find(({ name }) => name === 'resource')?.default).toBe('mail');
	const defaults = resources.map(({ value, defaultOperation }) => `${value} ${defaultOperation}`);
	const expected = ['document create', 'file upload', 'mail send', 'spreadsheet create'];
	expect(defaults).toEqual(expected);
});

describe.each(Object.keys(fields))('%s', (key) => {
	const form = { ...valuesOf(key), ...fields[key] } as INodeParameters;
	const visible = shown(form);
	const own = visible.filter(
		({ name, type }) => !(name in valuesOf(key)) && type !== 'collection',
	);
	const collections = description.properties.filter(({ type, displayOptions }) => {
		const { resource, operation } = displayOptions?.show ?? {};
		const chosen = JSON.stringify(key.split(' ').map((value) => [value]));
		return type === 'collection' && JSON.stringify([resource, operation]) === chosen;
	});

	test('shows its fields with their defaults', () => {
		expect(own.map(({ name }) => name)).toEqual(Object.keys(fields[key] ?? {}));
		expect(defaultsOf(own)).toMatchObject(fields[key] ?? {});
		expect(new Set(visible.map(({ name }) => name)).size).toBe(visible.length);
	});

	test('has its options with their defaults, in alphabetical order', () => {
		const lists = collections.map((collection) => collection.options as INodeProperties[]);
		expect(defaultsOf(lists.flat())).toEqual(whenAdded({ ...options[key], ...common }));
		for (const choices of lists) {
			const names = choices.map(({ displayName }) => displayName);
			expect(names).toEqual([...names].sort((a, b) => a.localeCompare(b)));
		}
	});

	test('an option that was not added keeps its value, and one that was added stays in the saved workflow', () => {
		const operation = operations.find((one) => one.key === key)?.operation;
		const switches = (operation?.options ?? []).filter(
			({ type, onlyIn }) => type === 'boolean' && onlyIn !== 'json',
		);
		const expected = Object.entries(options[key] ?? {}).filter(
			([, value]) => typeof value === 'boolean',
		);
		const absent = readParameters(switches, {}, { mode: 'fields', timezone: 'UTC' });
		expect(absent).toEqual(Object.fromEntries(expected));
		const added: Record<string, Record<string, true>> = {};
		for (const field of switches)
			if (!field.showWhen && !field.collection?.showWhen)
				(added[getCollectionName(field)] ??= {})[field.name] = true;
		const saved = { ...valuesOf(key), options: {}, ...added } as INodeParameters;
		expect(readSaved(saved, false)).toMatchObject(added);
	});

	test('has no locator that n8n would stop the node for', () => {
		for (const { name, modes = [] } of own) {
			for (const mode of modes) {
				expect(mode.validation).toBeUndefined();
				if (mode.type !== 'list') continue;
				const method = mode.typeOptions?.searchListMethod;
				expect(Object.keys(new Workspace().methods.listSearch)).toContain(method);
				// Drive Access does not change which tabs a spreadsheet has.
				expect(mode.hint ?? '').toMatch(/tab|section/.test(name) ? /^$/ : /Drive Access/);
			}
		}
	});

	test('keeps its values through n8n’s own reading of a saved node', () => {
		const options = { timeLimits: { limits: { timeoutSeconds: 2 } } };
		const kept = readSaved({ ...valuesOf(key), options }, true);
		expect(kept).toMatchObject({ ...fields[key], options });
	});
});

test('a fresh tool lists emails, which cannot do any harm; a fresh node sends one', () => {
	const defaultOf = (name: string) => {
		const { resource, operation } = readSaved({}, true, { ...description, name });
		return [resource, operation];
	};
	expect(defaultOf('workspace')).toEqual(['mail', 'send']);
	expect(defaultOf('workspaceTool')).toEqual(['mail', 'list']);
});

test('n8n’s builder of workflows reads how to fill in each locator and each column mapper', () => {
	const inCollections = description.properties.flatMap(({ options = [] }) =>
		options.filter((option) => 'displayName' in option && 'type' in option),
	);
	const objects = [...description.properties, ...inCollections].filter(
		({ type }) => type === 'resourceLocator' || type === 'resourceMapper',
	);
	expect(objects.length).toBeGreaterThan(10);
	for (const { name, builderHint } of objects)
		expect(`${name}: ${builderHint?.propertyHint}`).toMatch(/: Pass the whole object/);
});

test('no two have the same object as default, because n8n writes to it', () => {
	const all = description.properties.flatMap((property) => [
		property,
		...(property.options ?? []),
	]);
	const objects = all.flatMap((one) =>
		'default' in one && Object(one.default) === one.default ? [one.default] : [],
	);
	expect(new Set(objects).size).toBe(objects.length);
	expect(objects.length).toBeGreaterThan(20);
});

test('a property comes after those that decide whether it is shown, but for three that belong on top of the form', () => {
	const names = description.properties.map(({ name }) => name);
	const early = new Set<string>();
	for (const [index, { name, displayOptions = {} }] of description.properties.entries())
		for (const dependency of Object.keys({ ...displayOptions.show, ...displayOptions.hide }))
			if (names.indexOf(dependency) > index) early.add(`${name} of ${dependency}`);
	// n8n goes over each of them again, several times for each execution.
	const ofTools = [...early].filter((entry) => !entry.startsWith('toolDescription'));
	expect(ofTools).toEqual([
		'binaryPropertyName of contentSource',
		'matchType of output',
		'filters of output',
	]);
});

test('in JSON mode both dropdowns are hidden', () => {
	const visible = shown({ authentication: 'oAuth2', inputMode: 'json' }).map(({ name }) => name);
	const limits = ['allowedOperations', 'allowedRecipients', 'allowFilePaths'];
	expect(visible).toEqual(['inputMode', 'authentication', 'inputObject', ...limits]);
});

test('a page token can be entered in a tool, and in a workflow where pages are put out', () => {
	const collection = description.properties.find(({ name, displayOptions }) => {
		const { resource, operation } = displayOptions?.show ?? {};
		const chosen = JSON.stringify([resource, operation]);
		return name === 'options' && chosen === '[["mail"],["list"]]';
	});
	const entries = (collection?.options as INodeProperties[]).filter(
		({ name }) => name === 'pageToken',
	);
	const count = (nodeName: string, given: INodeParameters) =>
		entries.filter((entry) =>
			NodeHelpers.displayParameter(
				given,
				entry,
				node,
				{ ...description, name: nodeName },
				{ ...valuesOf('mail list'), options: given },
			),
		).length;
	expect([count('workspace', {}), count('workspace', { output: 'items' })]).toEqual([0, 0]);
	expect(count('workspace', { output: 'page' })).toBe(1);
	expect(count('workspaceTool', {})).toBe(1);
	expect(count('workspaceTool', { output: 'page' })).toBe(1);
});

test('an option that depends on a parameter is shown with its values', () => {
	const form = {
		...valuesOf('spreadsheet read'),
		...fields['spreadsheet read'],
	} as INodeParameters;
	const collection = shown(form).find(({ name }) => name === 'options');
	const choices = (collection?.options ?? []) as INodeProperties[];
	const visible = (given: INodeParameters, output = 'rows') =>
		choices
			.filter((choice) =>
				NodeHelpers.displayParameter(given, choice, node, description, {
					...form,
					output,
					options: given,
				}),
			)
			.map(({ name }) => name);
	expect(visible({})).toContain('headerRow');
	expect(visible({}, 'values')).not.toContain('headerRow');
	expect(visible({})).toContain('dateTimeRenderOption');
});

describe('what a model is told of', () => {
	const tool = { ...node, type: 'test.workspaceTool' } as INode;
	/** The description that n8n shows, and no other. */
	const told = (resource: string, operation: string): string => {
		const own = { ...description, name: tool.type };
		const given = { resource, operation };
		const values = readSaved(given, true, own);
		const shown = own.properties.filter(
			(property) =>
				property.name === 'toolDescription' &&
				NodeHelpers.displayParameter(values, property, tool, own),
		);
		expect(shown).toHaveLength(1);
		return values['toolDescription'] as string;
	};

	const isOf = (resource: string, operation: string) => {
		return ({ displayOptions: { show = {} } = {} }: INodeProperties): boolean =>
			show['resource']?.[0] === resource && show['operation']?.[0] === operation;
	};
	const toldIn = (resource: string, operation: string) =>
		toolDescriptions
			.filter(isOf(resource, operation))
			.map((property) => property.default as string);

	/** What a model may or may not fill in is the user's choice, so no text names it but with 'if available'. */
	test('no text names a parameter or a choice of the user', () => {
		for (const { resource, operation, key } of operations) {
			const own = [...operation.fields, ...operation.options];
			const names = own
				.map(({ displayName }) => displayName)
				.filter((name) => name.includes(' '));
			for (const text of toldIn(resource.value, operation.value)) {
				const continues = /\. ([^.]+), if available, continues a long answer\./.exec(text);
				const named = names.filter(
					(name) => text.includes(name) && name !== continues?.[1],
				);
				expect([key, named]).toEqual([key, []]);
				expect(text).not.toMatch(
					/optional|its ID or URL|template|Parent|HTML|Limit|items|replace a table|\n/,
				);
			}
		}
	});

	test('in under 200 characters, because each request to the model has all of them', () => {
		const lengths = operations.flatMap(({ resource, operation }) =>
			toldIn(resource.value, operation.value).map(({ length }) => length),
		);
		expect(Math.max(...lengths)).toBeLessThan(200);
	});

	test('which parameter continues a long answer', () => {
		const continuing = operations.flatMap(({ resource, operation, key }) => {
			const [, name] =
				/\. ([^.]+), if available, continues a long answer\.$/.exec(
					told(resource.value, operation.value),
				) ?? [];
			const known = operation.options.map(({ displayName }): string => displayName);
			expect(name === undefined || known.includes(name)).toBe(true);
			return name === undefined ? [] : [[key, name]];
		});
		expect(continuing).toEqual([
			['document read', 'Start Character'],
			['mail list', 'Page Token'],
			['mail read', 'Start Character'],
			['mail search', 'Page Token'],
			['spreadsheet read', 'Start Row'],
		]);
	});

	test('what a file that the model may choose is named by', () => {
		const given = operations.flatMap(({ resource, operation, key }) => {
			const texts = toolDescriptions.filter(isOf(resource.value, operation.value));
			const found = texts.map(({ default: text }) => {
				return /\. ([^.]+), if available: ID or URL\./.exec(text as string)?.[1];
			});
			return found.some((name) => name !== undefined) ? [[key, ...new Set(found)]] : [];
		});
		const names = { document: 'Document', spreadsheet: 'Spreadsheet' };
		const all = Object.entries(names).flatMap(([noun, name]) =>
			['append', 'read', 'write'].map((operation) => [`${noun} ${operation}`, name]),
		);
		expect(given.sort()).toEqual(all.sort());
	});

	test.each(['list', 'search'])(
		'an email has to be named by an ID, which %s gives',
		(operation) => {
			expect(told('mail', operation)).toContain('with their IDs');
			expect(told('mail', 'read')).toMatch(
				/by its ID, which listing or searching emails gives/,
			);
		},
	);

	test('that an email is sent unless it is a draft, and how rows look in JSON', () => {
		expect(told('mail', 'send')).toMatch(/Unless .* draft, it is sent .* cannot be undone/);
		for (const operation of ['append', 'write'])
			expect(told('spreadsheet', operation)).toMatch(/arrays of cells, or objects/);
	});
});

test('texts on the form follow n8n’s rules', () => {
	const all = description.properties.flatMap((property) => [
		property,
		...(property.type === 'collection' ? ((property.options ?? []) as INodeProperties[]) : []),
	]);
	for (const { displayName, type, description: text = '' } of all) {
		if (type === 'boolean') expect(`${displayName}: ${text}`).toMatch(/: Whether /);
		if (
			!text
				.replace(/e\.g\./g, '')
				.slice(0, -1)
				.includes('. ')
		)
			expect(text).not.toMatch(/[^.]\.$/);
	}
});

test('a filter asks for a value only where its condition compares with one', () => {
	const form = { inputMode: 'fields', resource: 'spreadsheet', operation: 'read' };
	const filters = shown({ ...form, output: 'rows' }).find(({ name }) => name === 'filters');
	const { values } = filters?.options?.[0] as INodePropertyCollection;
	const named = (condition: string) =>
		values.filter((property) =>
			NodeHelpers.displayParameter({ condition }, property, node, description),
		);
	expect(named('equals').map(({ name }) => name)).toEqual(['column', 'condition', 'value']);
	expect(named('isEmpty').map(({ name }) => name)).toEqual(['column', 'condition']);
});

test('a one-line field shows the whole of its placeholder', () => {
	const oneLine = ({ type, typeOptions }: INodeProperties) =>
		type === 'string' && (typeOptions?.rows ?? 1) === 1;
	const placeholders = description.properties
		.filter(oneLine)
		.map(({ placeholder = '' }) => placeholder);
	// Characters that the form's column has room for.
	expect(placeholders.filter(({ length }) => length > 46)).toEqual([]);
});

test('a model reads which keys of an input object are required, and what cannot be undone', () => {
	const text = toolDescriptions.at(-1)?.default as string;
	expect(text.split('\n').slice(1, -1)).toEqual([
		'document append: documentId*, content*, contentFormat',
		'document create: title*, content, contentFormat, templateId, fillFromInput, replacements, parentFolder',
		'document read: documentId*, format',
		'document write: documentId*, section, tab, content*, contentFormat. Destructive: the previous content is lost.',
		'file upload: binaryPropertyName, parentFolder, name, contentSource, content*, messageId, attachment, mimeType',
		'mail list: from, status, received, receivedAfter, receivedBefore, returnAll, maxResults',
		'mail read: messageId*',
		'mail search: query*, received, receivedAfter, receivedBefore, returnAll, maxResults',
		'mail send: replyToMessageId, to, subject, body*, bodyFormat, attachments, saveAsDraft. Unless it is saved as a draft, it is sent immediately and cannot be undone.',
		'spreadsheet append: spreadsheetId*, tab, valuesSource, columns, values*',
		'spreadsheet create: title*, parentFolder',
		'spreadsheet read: spreadsheetId*, tab, matchType, filters, output',
		'spreadsheet write: spreadsheetId*, tab, writeMode, matchColumns, valuesSource, columns, values*. Destructive: the previous values of these cells are lost.',
	]);
	expect(text).toContain('mailAttachment (attachment is its file name)');
});

// What the editor shows of a result before the first run must be what a run gives.
describe('output schema', () => {
	const folder = path.join(__dirname, '..', '..', 'nodes', 'Workspace', '__schema__', 'v1.0.0');
	const schemaOf = (operation: string) =>
		JSON.parse(readFileSync(path.join(folder, `${operation}.json`), 'utf8')) as Schema;

	let google: GoogleServer;

	beforeAll(async () => {
		google = await startGoogle();
		const scopes = [...standardScopes, 'gmail.compose', 'gmail.modify'];
		google.tokens.issue({ token, scopes });
	});
	afterAll(async () => {
		expectNoViolations(google);
		await google.close();
	});

	async function run(
		operation: string,
		parameters: IDataObject,
		options: IDataObject = {},
		json: IDataObject = {},
	): Promise<IDataObject> {
		const [resource, value] = operation.split('/');
		const [item] = await runNode({
			url: google.url,
			parameters: { resource, operation: value, ...parameters, options },
			items: [{ json }],
		});
		if (!item) throw new Error(`${operation} gave nothing`);
		return item.json;
	}

	const byId = (value: unknown) => ({ __rl: true, mode: 'id', value: value as string });
	const replaced = { replacement: [{ find: 'Text', replace: 'Note' }] };
	const mail = { to: 'ann@example.com', subject: 'Hi', body: 'Text' };

	/** Each operation on what the stand-in has, or on what another operation made before. */
	const results: Record<string, () => Promise<IDataObject>> = {
		// Without a draft, all of it but `draftId`.
		'mail/send': () => run('mail/send', { ...mail, sendAs: 'draft' }),
		'mail/list': () => run('mail/list', {}, { labelIds: ['DRAFT'] }),
		'mail/search': () => run('mail/search', { query: 'subject:Hi in:draft' }),
		'mail/read': () => run('mail/read', { messageId: seedMail() }),
		'spreadsheet/create': () => run('spreadsheet/create', { title: 'Book' }),
		'spreadsheet/read': () =>
			run('spreadsheet/read', { spreadsheetId: seedSheet(), output: 'rows' }),
		// Without columns to match by, all of it but `action`.
		'spreadsheet/write': () => {
			const tab = { __rl: true, mode: 'name', value: 'Sheet1' };
			const columns = { mappingMode: 'autoMapInputData', value: null };
			const matching = { writeMode: 'updateOrAdd', matchColumns: ['name'] };
			const parameters = { spreadsheetId: seedSheet(), tab, columns, ...matching };
			return run('spreadsheet/write', parameters, {}, { name: 'a', count: 2 });
		},
		'spreadsheet/append': () => {
			const rows = { valuesSource: 'json', values: '[["b",2]]' };
			const parameters = { spreadsheetId: seedSheet(), ...rows };
			return run('spreadsheet/append', parameters, { range: 'Sheet1!A:B' });
		},
		'document/create': () => {
			const templateId = byId(google.docs.seed({ title: 'Template', tabs: [{}] }));
			const parameters = { title: 'Notes', from: 'template', templateId };
			return run('document/create', { ...parameters, replacements: replaced });
		},
		'document/read': () => run('document/read', { documentId: seedDocument() }),
		'document/write': () => {
			const documentId = seedDocument();
			const parameters = { documentId, replace: 'document', content: 'Text' };
			return run('document/write', parameters, { replacements: replaced });
		},
		'document/append': () =>
			run('document/append', { documentId: seedDocument(), content: 'Text' }),
		'file/upload': () =>
			run('file/upload', { name: 'a.txt', contentSource: 'base64', content: 'SGVsbG8=' }),
	};

	function seedMail(): string {
		const part = (type: string, text: string, more: string[] = []) =>
			['--b', `Content-Type: ${type}`, ...more, '', text].join('\r\n');
		const raw = [
			'From: Ann <ann@example.com>',
			'To: someone@example.com',
			'Subject: Hi',
			'Date: Sat, 21 Nov 2026 09:00:00 +0000',
			'MIME-Version: 1.0',
			'Content-Type: multipart/mixed; boundary=b',
			'',
			part('text/plain', 'Text'),
			part('text/plain', 'Hello', ['Content-Disposition: attachment; filename=a.txt']),
			'--b--',
			'',
		];
		return google.gmail.seed({ raw: raw.join('\r\n') });
	}
	const seedSheet = () => {
		const tabs = [{ title: 'Sheet1', rows: [['name', 'count'], ['a', 1]] }]; // prettier-ignore
		return byId(google.sheets.seed({ title: 'Book', tabs }));
	};
	const seedDocument = () => byId(google.docs.seed({ title: 'Notes' }));

	test('there is a schema for every operation, and for nothing else', () => {
		const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
			name.endsWith('.json'),
		);
		const operations = resources.flatMap(({ value, operations }) =>
			operations.map((operation) => `${value}/${operation.value}.json`),
		);
		expect(files.sort()).toEqual(operations.sort());
	});

	test.each(Object.keys(results))('%s gives what its schema says', async (operation) => {
		const result = await results[operation]?.();
		const columns = operation === 'spreadsheet/read' ? ['name', 'count'] : [];
		expect(findDisagreements(schemaOf(operation), result, columns)).toEqual([]);
	});
});

test('an action is named by what people look for', () => {
	const actions = resources.flatMap(({ operations }) => operations.map(({ action }) => action));
	expect(actions.toSorted()).toEqual([
		'Append rows to spreadsheet',
		'Append text to document',
		'Create document or fill template',
		'Create spreadsheet',
		'List emails',
		'Read document or get it as PDF',
		'Read email',
		'Read rows of spreadsheet',
		'Replace content of document or section',
		'Search emails',
		'Send, reply to or draft email',
		'Update or add rows in spreadsheet',
		'Upload file to Google Drive',
	]);
});
