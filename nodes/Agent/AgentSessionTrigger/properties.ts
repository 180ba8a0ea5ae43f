import type { INodeProperties } from 'n8n-workflow';

import { propertiesOf } from '../../fields/description';
import { triggerFields, triggerOptions } from './fields';

export const properties: INodeProperties[] = propertiesOf(triggerFields, triggerOptions);
