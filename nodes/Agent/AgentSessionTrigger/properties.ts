import type { INodeProperties } from 'n8n-workflow';

import { propertiesOf } from '../../parameters/properties';
import { triggerFields, triggerOptions } from './fields';

export const properties: INodeProperties[] = propertiesOf(triggerFields, triggerOptions);
