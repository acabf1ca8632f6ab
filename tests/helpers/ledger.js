// What a person has entered, as the person would write it down: each result, how it was had, and what was
// bought together. It knows nothing of the page's code or of its address.
//
// A line is [feature, result, purchase]. The purchase is a number, "free", or null for what is not available.
// Lines stand in the order of entry. `open` are the tests of the round of which results are to come.

globalThis.newLedger = () => ({ lines: [], open: null, purchases: 0 });

globalThis.ledgerOf = (book) => {
  const lineOf = (feature) => book.lines.find(([name]) => name === feature);
  const isBought = (feature) => typeof lineOf(feature)?.[2] === "number";
  const isOpen = (names) => names !== null && names.some(isBought) && names.some((name) => !lineOf(name)) &&
    !names.some((name) => lineOf(name)?.[2] === null);
  const settle = () => { if (!isOpen(book.open)) book.open = null; };
  const put = (line) => { book.lines = [...book.lines.filter(([name]) => name !== line[0]), line]; };
  return {
    lineOf,
    // The result of a test. `together`: the tests whose fields stand beside it; a test that stands alone
    // belongs to the open round if it was ordered there.
    enter(feature, result, together) {
      const names = book.open?.includes(feature) ? book.open : together;
      const beside = book.lines.filter(([name]) => name !== feature && names.includes(name) && isBought(name));
      const old = lineOf(feature)?.[2];
      if (result === null) put([feature, null, null]);
      else put([feature, result, old ?? beside.at(-1)?.[2] ?? (book.purchases += 1)]);
      if (isOpen(names)) book.open = names;
      settle();
    },
    enterFree(feature, result) { put([feature, result, result === null ? null : "free"]); settle(); },
    takeBack(feature) { book.lines = book.lines.filter(([name]) => name !== feature); settle(); },
    last: () => book.lines.at(-1)?.[0],
    leaveRound() { book.open = null; },
    clear() { book.lines = []; book.open = null; },
  };
};
