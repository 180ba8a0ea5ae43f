import { end } from './globalSetup';

export default end;
