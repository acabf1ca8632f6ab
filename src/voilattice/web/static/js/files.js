// Files: problems of one's own, and consultations that are saved and opened again.

import { asked, state } from "./address.js";
import { $, element } from "./dom.js";
import { keptFiles, upload } from "./server.js";
import { session } from "./session.js";
import { begin } from "./settings.js";
import { day, slug, titleOf } from "./wording.js";

const FORMAT = "voilattice consultation";

export async function openFiles(files) {
  if (!files.length) return;
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
  const { problem, advice, isQuick } = session;
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

export function download(name, type, text) {
  const address = URL.createObjectURL(new Blob([text], { type }));
  element("a", { download: name, href: address }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

function isRecord(text) {
  try {
    return JSON.parse(text)?.format === FORMAT;
  } catch {
    return false;
  }
}

async function openRecord(name, record) {
  if (typeof record.problem !== "string" || !Array.isArray(record.found))
    throw new Error(`${name}: not a whole consultation; save it again`);
  let { problem } = record;
  if (record.files && typeof record.files === "object") problem = (await upload(record.files)).name;
  const steps = record.found.map(({ feature, result, free, same_round }) => [
    feature,
    result,
    ...(free ? ["free"] : same_round ? [true] : []),
  ]);
  begin(problem, {
    ...record.changes,
    policy: record.policy,
    steps,
    round: record.round ?? null,
    entered: record.entered ?? [],
  });
}

// Files, or a folder with them.
export async function droppedFiles(transfer) {
  const entries = [...transfer.items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
  const folder = entries.find((entry) => entry.isDirectory);
  if (!folder) return [...transfer.files];
  const inside = await new Promise((resolve, reject) => folder.createReader().readEntries(resolve, reject));
  const files = inside.filter(
    (entry) => entry.isFile && !entry.name.startsWith(".") && !/\.(md|txt)$/i.test(entry.name),
  );
  return Promise.all(files.map((entry) => new Promise((resolve, reject) => entry.file(resolve, reject))));
}

export function wireFiles(say) {
  const take = (files) => {
    say(null);
    return files.then(openFiles).then(
      () => {},
      (error) => say(error, () => take(files)),
    );
  };
  $("files").onchange = (event) =>
    take(Promise.resolve([...event.target.files])).finally(() => {
      event.target.value = "";
    });
  document.ondragover = (event) => {
    event.preventDefault();
    document.body.classList.add("dropping");
  };
  document.ondragleave = () => document.body.classList.remove("dropping");
  document.ondrop = (event) => {
    event.preventDefault();
    document.body.classList.remove("dropping");
    take(droppedFiles(event.dataTransfer));
  };
  $("save").onclick = save;
}
