import fc from 'fast-check';

import { isNodeError } from '../../nodes/core/errors';
import { readInputObject } from '../../nodes/Workspace/runner/job';
import { fieldsOf } from '../../nodes/Workspace/operation';
import { paramsOf } from '../../nodes/fields/params';
import { resources } from '../../nodes/Workspace/resources';

const all = resources.flatMap(({ value: resource, operations }) =>
	operations.map((operation) => ({ resource, operation })),
);

/** Whatever comes in is either understood or refused with a sentence; nothing else ever happens. */
function understoodOrRefused(act: () => unknown): boolean {
	try {
		act();
		return true;
	} catch (error) {
		return isNodeError(error) && error.code === 400 && error.message !== '';
	}
}

const timezone = 'UTC';

test('any value as the input object', () => {
	fc.assert(
		fc.property(fc.oneof(fc.jsonValue(), fc.string(), fc.anything()), (input) =>
			understoodOrRefused(() => {
				const { operation, given } = readInputObject(input, { allowFilePaths: true, allowedOperations: [] });
				paramsOf(fieldsOf(operation), given, { mode: 'json', timezone });
			}),
		),
		{ numRuns: 2000 },
	);
});

test.each(all.map(({ resource, operation }) => [`${resource} ${operation.value}`, operation] as const))(
	'any values for the fields of %s',
	(_, operation) => {
		const names = [...operation.fields, ...operation.options].map(({ name }) => name);
		const values = fc.oneof(
			fc.jsonValue(),
			fc.string(),
			fc.anything(),
			fc.record({ __rl: fc.constant(true), mode: fc.string(), value: fc.anything() }),
		);
		const given = fc.dictionary(fc.constantFrom(...names), values, { maxKeys: names.length });
		fc.assert(
			fc.property(given, fc.constantFrom('fields' as const, 'json' as const), (object, mode) =>
				understoodOrRefused(() => paramsOf(fieldsOf(operation), object, { mode, timezone })),
			),
			{ numRuns: 300 },
		);
	},
);
