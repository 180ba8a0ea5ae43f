/** jest's own output would cost time; the results are read from its file. */
module.exports = class Silence {};
