import { buildProperties } from '../../fields/nodeProperties';
import { triggerFields, triggerOptions } from './fields';

export const properties = buildProperties(triggerFields, triggerOptions);
