export { append } from './append.operation';
export { create } from './create.operation';
export { read } from './read.operation';
export { write } from './write.operation';
