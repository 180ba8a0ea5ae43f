export { list } from './list.operation';
export { read } from './read.operation';
export { search } from './search.operation';
export { send } from './send.operation';
