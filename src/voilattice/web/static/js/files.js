// @ts-check
// Files: problems of one's own, and consultations that are saved and opened again.

import { asked, state } from "./address.js";
import { $, element } from "./dom.js";
import { freeStep } from "./rounds.js";
import { keptFiles, upload } from "./server.js";
import { answered, session } from "./session.js";
import { begin } from "./settings.js";
import { day, slug, titleOf } from "./wording.js";

/** @import { Failure, Result, Step } from "./types.d.ts" */

/** @typedef {{ feature: string, result: Result, free?: boolean, same_round?: boolean }} SavedStep */

const FORMAT = "voilattice consultation";

/** @type {(files: File[]) => Promise<unknown>} */
export async function openFiles(files) {
  if (!files.length) return;
  /** @type {Record<string, string>} */
  const texts = {};
  for (const file of files) texts[file.name] = await file.text();
  const saved = Object.entries(texts).find(([name, text]) => /\.json$/i.test(name) && isRecord(text));
  if (saved) return openRecord(saved[0], JSON.parse(saved[1]));
  const found = await upload(texts);
  // The files of the problem in the address, which the server had lost: the consultation goes on.
  if (found.name === state().problem) {
    session.problem = null;
    return dispatchEvent(new Event("hashchange"));
  }
  begin(found.name);
}

export function save() {
  const now = state();
  const { problem } = answered;
  const { advice, isQuick } = session;
  const record = {
    format: FORMAT,
    saved: new Date().toISOString(),
    problem: now.problem,
    title: problem.title,
    policy: now.policy,
    question: asked(now),
    found: now.steps.map(([feature, result, how]) => ({
      feature,
      result,
      ...(how === "free" ? { free: true } : {}),
      ...(how === true ? { same_round: true } : {}),
    })),
    together: asked(now).together,
    round: now.round ?? undefined,
    entered: now.entered,
    stakes: asked(now).stakes,
    changes: {
      prices: now.prices,
      cells: now.cells,
      scale: now.scale,
      kind: now.kind,
      expected: now.expected,
      replaced: now.replaced,
    },
    advice: isQuick ? null : advice,
    bill: session.situation?.bill ?? [],
    files: keptFiles(now.problem) ?? undefined,
  };
  download(`${slug(titleOf(problem))}-${day()}.json`, "application/json", JSON.stringify(record, null, 2));
}

/** @type {(name: string, type: string, text: string) => void} */
export function download(name, type, text) {
  const address = URL.createObjectURL(new Blob([text], { type }));
  element("a", { download: name, href: address }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

/** @type {(text: string) => boolean} */
function isRecord(text) {
  try {
    return JSON.parse(text)?.format === FORMAT;
  } catch {
    return false;
  }
}

/** @type {(name: string, record: any) => Promise<void>} */
async function openRecord(name, record) {
  if (typeof record.problem !== "string" || !Array.isArray(record.found))
    throw new Error(`${name}: not a whole consultation; save it again`);
  let { problem } = record;
  if (record.files && typeof record.files === "object") problem = (await upload(record.files)).name;
  /** @type {SavedStep[]} */
  const found = record.found;
  /** @type {Step[]} */
  const steps = found.map(({ feature, result, free, same_round }) =>
    free ? freeStep(feature, result) : same_round ? [feature, result, true] : [feature, result],
  );
  begin(problem, {
    ...record.changes,
    policy: record.policy,
    steps,
    round: record.round ?? null,
    entered: record.entered ?? [],
  });
}

// Files, or a folder with them.
/** @type {(transfer: DataTransfer) => Promise<File[]>} */
export async function droppedFiles(transfer) {
  const entries = [...transfer.items].map((item) => item.webkitGetAsEntry?.());
  const folder = /** @type {FileSystemDirectoryEntry | undefined} */ (entries.find((entry) => entry?.isDirectory));
  if (!folder) return [...transfer.files];
  /** @type {FileSystemEntry[]} */
  const inside = await new Promise((resolve, reject) => folder.createReader().readEntries(resolve, reject));
  /** @type {(entry: FileSystemEntry) => boolean} */
  const isWanted = ({ isFile, name }) => isFile && !name.startsWith(".") && !/\.(md|txt)$/i.test(name);
  const files = /** @type {FileSystemFileEntry[]} */ (inside.filter(isWanted));
  return Promise.all(files.map((entry) => new Promise((resolve, reject) => entry.file(resolve, reject))));
}

/** @type {(say: (error: Failure | null, again?: () => void) => void) => void} */
export function wireFiles(say) {
  /** @type {(files: Promise<File[]>) => Promise<void>} */
  const take = (files) => {
    say(null);
    return files.then(openFiles).then(
      () => {},
      (error) => say(error, () => take(files)),
    );
  };
  const field = $("files");
  field.onchange = () =>
    take(Promise.resolve([...(field.files ?? [])])).finally(() => {
      field.value = "";
    });
  document.ondragover = (event) => {
    event.preventDefault();
    document.body.classList.add("dropping");
  };
  document.ondragleave = () => document.body.classList.remove("dropping");
  document.ondrop = (event) => {
    event.preventDefault();
    document.body.classList.remove("dropping");
    if (event.dataTransfer) take(droppedFiles(event.dataTransfer));
  };
  $("save").onclick = save;
}
