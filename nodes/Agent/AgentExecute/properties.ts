import type { INodeProperties } from 'n8n-workflow';

import { propertiesOf } from '../../parameters/properties';
import { fields, options } from './parameters';

export const properties: INodeProperties[] = propertiesOf(fields, options);
