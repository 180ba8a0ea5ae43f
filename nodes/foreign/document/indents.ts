/** Points of indentation per list level, as in Docs' own presets. */
export const listIndentPoints = 36;
/** Half a list level, so that a quote inside an item can be distinguished from a deeper item. */
export const quoteIndentPoints = 18;
