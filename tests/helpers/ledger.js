// What a person has entered, as the person would write it down: each result, how it was had, and what was
// bought together. It knows nothing of the page's code or of its address.
//
// A line is [feature, result, purchase]. The purchase is a number, "free", or null for what is not available.
// Lines stand in the order of entry. `open` are the tests of the round of which results are to come. A round that
// was given up because a test is not available is remembered in `closed`, [tests, that test], until something else is
// entered: it is open again when that is taken back. So is a round without the result that completed it, if that
// was entered last and is undone.

globalThis.newLedger = () => ({ lines: [], open: null, closed: null, purchases: 0 });

globalThis.ledgerOf = (book) => {
  const lineOf = (feature) => book.lines.find(([name]) => name === feature);
  const isBought = (feature) => typeof lineOf(feature)?.[2] === "number";
  const isOpen = (names) =>
    names?.some(isBought) && names.some((name) => !lineOf(name)) && !names.some((name) => lineOf(name)?.[2] === null);
  const settle = () => {
    if (!isOpen(book.open)) book.open = null;
  };
  const strike = (feature) => {
    book.lines = book.lines.filter(([name]) => name !== feature);
  };
  const takeBack = (feature) => {
    strike(feature);
    if (book.closed?.[1] === feature) [book.open, book.closed] = [book.open ?? book.closed[0], null];
    settle();
  };
  const undo = () => {
    const [feature, , purchase] = book.lines.at(-1);
    const names = book.lines
      .filter((line) => typeof purchase === "number" && line[2] === purchase)
      .map(([name]) => name);
    takeBack(feature);
    if (!book.open && isOpen(names)) book.open = names;
  };
  // A test that is not available ends the rounds it was ordered in.
  const giveUp = (feature, ...orders) => {
    strike(feature);
    const given = orders.find((names) => names?.includes(feature) && isOpen(names));
    put([feature, null, null]);
    settle();
    book.closed = given && !book.open ? [given, feature] : null;
  };
  const put = (line) => {
    book.lines = [...book.lines.filter(([name]) => name !== line[0]), line];
  };
  return {
    lineOf,
    // The result of a test. `together`: the tests whose fields stand beside it; a test that stands alone
    // belongs to the open round if it was ordered there.
    enter(feature, result, together) {
      if (book.closed?.[1] === feature) takeBack(feature);
      const names = book.open?.includes(feature) ? book.open : together;
      if (result === null) {
        giveUp(feature, names, book.open);
        return;
      }
      const beside = book.lines.filter(([name]) => name !== feature && names.includes(name) && isBought(name));
      const old = lineOf(feature)?.[2];
      if ((old ?? beside.at(-1)) === undefined) book.purchases += 1;
      put([feature, result, old ?? beside.at(-1)?.[2] ?? book.purchases]);
      if (isOpen(names)) book.open = names;
      book.closed = null;
      settle();
    },
    enterFree(feature, result) {
      if (result === null) {
        giveUp(feature, book.open);
        return;
      }
      put([feature, result, "free"]);
      book.closed = null;
      settle();
    },
    takeBack,
    undo,
    last: () => book.lines.at(-1)?.[0],
    leaveRound() {
      book.open = book.closed = null;
    },
    clear() {
      book.lines = [];
      book.open = book.closed = null;
    },
  };
};
