import { labelChoices } from '../../../nodes/Workspace/methods/methods';
import { testClients } from '../client';
import { StandIn } from '../standIn';

const standIn = new StandIn();

it("offers the mailbox's own labels before those of every mailbox, with the IDs that emails name them by", async () => {
	standIn.google.gmail.labels = { Label_2: 'Zebra', Label_1: 'Clients/Acme' };
	const choices = await labelChoices(testClients(standIn.google.url, standIn.google.tokens.issue()));
	expect(choices.slice(0, 4)).toEqual([
		{ name: 'Clients/Acme', value: 'Label_1', description: 'Label_1' },
		{ name: 'Zebra', value: 'Label_2', description: 'Label_2' },
		{ name: 'Category Forums', value: 'CATEGORY_FORUMS' },
		{ name: 'Category Personal', value: 'CATEGORY_PERSONAL' },
	]);
	expect(choices).toContainEqual({ name: 'Inbox', value: 'INBOX' });
});
