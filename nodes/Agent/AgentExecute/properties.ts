import { buildProperties } from '../../fields/nodeProperties';
import { fields, options } from './parameters';

export const properties = buildProperties(fields, options);
