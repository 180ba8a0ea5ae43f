import { checkAllowedHost } from '../../../nodes/Agent/session/urls';
import { agentSignatureCredential } from '../../../nodes/Agent/session/credentials';

const check = (allowedHosts: unknown, url: string) => () => {
	checkAllowedHost(agentSignatureCredential({ allowedHosts }), new URL(url));
};

test.each([
	['', 'https://anywhere.example'],
	[undefined, 'wss://anywhere.example/ws'],
	['agent.example.com', 'https://agent.example.com/execute'],
	['agent.example.com', 'wss://agent.example.com:3010/ws'],
	[' other.example,\nAgent.Example.Com. ', 'https://agent.example.com./execute'],
	['agent.example.com:3010', 'wss://agent.example.com:3010/ws'],
	['agent.example.com:443', 'https://agent.example.com/execute'],
	['agent.example.com:80', 'ws://agent.example.com/ws'],
	['*.example.com', 'https://a.b.example.com'],
	['bücher.example', 'https://xn--bcher-kva.example'],
	['[::1]:8080', 'http://[::1]:8080/execute'],
	['127.0.0.1', 'http://127.1/execute'],
])('%j allows %s', (hosts, url) => {
	expect(check(hosts, url)).not.toThrow();
});

test.each([
	['agent.example.com', 'https://agent.example.com.evil.example/execute'],
	['agent.example.com', 'https://evil-agent.example.com/execute'],
	['example.com', 'https://agent.example.com/execute'],
	['*.example.com', 'https://example.com'],
	['*.example.com', 'https://evilexample.com'],
	['agent.example.com:3010', 'wss://agent.example.com:3011/ws'],
	['agent.example.com:443', 'http://agent.example.com/execute'],
	['127.0.0.1', 'http://localhost/execute'],
])('%j refuses %s', (hosts, url) => {
	expect(check(hosts, url)).toThrow('is not allowed for');
});

test.each(['https://agent.example.com', 'agent.example.com/x', 'a b', '*', 'a.*.example', '@evil.example'])(
	'%j is no host name, and allows nothing',
	(hosts) => {
		expect(check(hosts, 'https://agent.example.com')).toThrow('which is not a host name');
	},
);
