// What is at hand: the document of the problem, and the answers to the question in the address.

export const session = {
  entries: [], // the problems that the server names
  policies: [], // none: not known yet
  problem: null,
  situation: null, // posterior, prices and bill: here at once
  advice: null, // perhaps a quick one, see `isQuick`
  isQuick: false,
  steps: null, // what each first step leads to; null: not asked, or not yet answered
};
