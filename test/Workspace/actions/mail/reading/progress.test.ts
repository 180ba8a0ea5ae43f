import { listMessages } from '../../../../../nodes/Workspace/actions/mail/list/listMessages';
import { testClients, testItem } from '../../../client';
import { token } from '../../../runNode';
import { Mails } from '../mails';

const mails = new Mails();

it('a long list says in the log how many emails it has so far', async () => {
	for (let mail = 0; mail < 250; mail++) mails.google.gmail.seed({ subject: `Mail ${mail}` });
	const item = testItem();
	const { messages } = await listMessages(
		testClients(mails.google.url, token),
		'',
		{
			returnAll: true,
			maxResults: 25,
			details: true,
			downloadAttachments: false,
			includeBody: false,
			includeSpamTrash: false,
			labelIds: [],
			output: 'items',
			pageToken: '',
			receivedAfter: '',
			receivedBefore: '',
		},
		item,
	);
	expect(messages).toHaveLength(250);
	expect(item.logs).toEqual(['List of item 0: 100 emails so far', 'List of item 0: 200 emails so far']);
});
