// @ts-check
// The advisor's page: it begins with what the server offers, then answers what the address asks.

import { watchAddress, write } from "./address.js";
import { undoAll } from "./changes.js";
import { leave, say, show, showAgain, showError } from "./consultation.js";
import { $, watchPointer } from "./dom.js";
import { wireFiles } from "./files.js";
import { takeBackLast } from "./history.js";
import { wireKeyboard } from "./keyboard.js";
import { openReport } from "./report.js";
import { call } from "./server.js";
import { session } from "./session.js";
import { fillSettings, wireSettings } from "./settings.js";
import { printSheet } from "./sheet.js";

let isStarted = false; // what the server offers is here
/** @type {Promise<void> | null} */
let starting = null; // or being asked for

function wire() {
  wireSettings();
  wireFiles(say);
  wireKeyboard();
  watchPointer();
  $("undo").onclick = takeBackLast;
  $("again").onclick = () => write({ steps: [], imagined: null });
  $("print").onclick = printSheet;
  $("report").onclick = openReport;
  $("changed-undo").onclick = undoAll;
  watchAddress(() => (isStarted ? show() : start()));
  addEventListener("pagehide", leave);
  addEventListener("pageshow", (event) => {
    if (event.persisted) showAgain();
  });
}

const start = () =>
  (starting ??= begin().finally(() => {
    starting = null;
  }));

async function begin() {
  try {
    const [policies, entries] = await Promise.all([call("GET", "policies"), call("GET", "problems")]);
    session.policies = policies.reverse(); // the best one first
    session.entries = entries;
    fillSettings();
    isStarted = true;
  } catch (error) {
    showError(error, start);
    return;
  }
  await showAgain();
}

wire();
await start();
