import type { INodeProperties } from 'n8n-workflow';

import { buildProperties } from '../../fields/nodeProperties';
import { fields, options } from './parameters';

export const properties: INodeProperties[] = buildProperties(fields, options);
