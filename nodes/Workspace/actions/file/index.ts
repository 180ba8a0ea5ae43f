export { upload } from './upload.operation';
