import type { INodeProperties } from 'n8n-workflow';

import { buildProperties } from '../../fields/nodeProperties';
import { triggerFields, triggerOptions } from './fields';

export const properties: INodeProperties[] = buildProperties(triggerFields, triggerOptions);
