import { runTogether } from './runTogether';

runTogether(__filename);
