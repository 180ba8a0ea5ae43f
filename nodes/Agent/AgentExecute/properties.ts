import type { INodeProperties } from 'n8n-workflow';

import { propertiesOf } from '../../fields/description';
import { fields, options } from './parameters';

export const properties: INodeProperties[] = propertiesOf(fields, options);
