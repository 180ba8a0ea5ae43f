import type { docs_v1 } from 'googleapis/build/src/apis/docs/v1';

import { Failure } from '../../../items/failure';
import { defineOperation, type Clients } from '../../operation';
import { isEmpty, parse, planWhole, type Parsed } from './content';
import * as fields from './fields';
import { carryOut, changeOf, readBack } from './guarded';
import { documentUrl } from './tabs';

const documentType = 'application/vnd.google-apps.document';

export const create = defineOperation({
	value: 'create',
	name: 'Create',
	action: 'Create document',
	description: 'Create a document, with or without content',
	fields: [
		{
			displayName: 'Title',
			name: 'title',
			type: 'string',
			default: '',
			required: true,
			description: 'Title of the new document',
		},
		{
			displayName: 'Parent Folder',
			name: 'parentFolder',
			type: 'resourceLocator',
			default: { __rl: true, mode: 'list', value: '' },
			holds: 'fileId',
			searchListMethod: 'searchFolders',
			description: 'The folder that the document goes into. Empty: My Drive.',
		},
	],
	options: [{ ...fields.content, description: 'What the document is to hold' }, fields.contentFormat],
	async execute(clients, { title, parentFolder, content, contentFormat }, item) {
		const parsed = await parse(content, contentFormat);
		const made = await (parentFolder === ''
			? inMyDrive(clients, title)
			: inFolder(clients, title, parentFolder));
		const documentId = made.documentId ?? '';
		item.made({ kind: 'document', id: documentId, url: documentUrl(documentId) });
		if (isEmpty(parsed) && made.body) return resultOf(made);
		if (!isEmpty(parsed)) await carryOut(clients.docs, await firstChange(clients, made, parsed), item);
		return await finished(clients, documentId);
	},
	async recover(clients, { title }, failure, item) {
		const written = await readBack(clients.docs, failure, item);
		if (written !== undefined) return await finished(clients, written.documentId);
		throw new Failure({
			code: failure.code,
			status: failure.status,
			message: `It is not known whether the document was created: ${failure.message}`,
			description: `It was not created again, because there might then be two. Look for '${title}' in Google Drive before running this again.`,
			ambiguous: true,
		});
	},
});

async function inMyDrive({ docs }: Clients, title: string): Promise<docs_v1.Schema$Document> {
	const { data } = await docs.documents.create({ requestBody: { title } });
	return data;
}

/** Docs cannot create in a folder, Drive can; its answer has no content. */
async function inFolder({ drive }: Clients, title: string, folder: string): Promise<docs_v1.Schema$Document> {
	const { data } = await drive.files.create({
		requestBody: { name: title, mimeType: documentType, parents: [folder] },
		supportsAllDrives: true,
		fields: 'id',
	});
	return { documentId: data.id };
}

async function firstChange({ docs }: Clients, made: docs_v1.Schema$Document, parsed: Parsed) {
	const documentId = made.documentId ?? '';
	const revisionId =
		made.revisionId ?? (await docs.documents.get({ documentId, fields: 'revisionId' })).data.revisionId;
	const plan = planWhole(parsed, { tabId: undefined, styled: false });
	return changeOf(plan, { documentId, tabId: undefined, revisionId: revisionId ?? '' }, 1);
}

async function finished({ docs }: Clients, documentId: string) {
	const { data } = await docs.documents.get({ documentId, fields: 'documentId,title,body' });
	return resultOf(data);
}

function resultOf({ documentId, title, body }: docs_v1.Schema$Document) {
	return { documentId, title, body, documentUrl: documentUrl(documentId ?? '') };
}
