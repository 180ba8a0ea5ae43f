import { runTheOthers } from './runTogether';

runTheOthers(['e2e', 'queue', 'hostile', 'versions']);
