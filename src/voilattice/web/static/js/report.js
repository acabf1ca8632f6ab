// @ts-check
// The report, in a window of its own. It is opened at the click, before there is anything to
// show: browsers allow that alone. Styles are adopted, since the content security policy of the page,
// which the window inherits, allows no style inside a document.

import { asked, state } from "./address.js";
import { element, findAll } from "./dom.js";
import { startJob } from "./server.js";
import { session } from "./session.js";
import { day, slug, titleOf } from "./wording.js";

const BAR =
  ".report-bar { display: flex; gap: .6rem; padding: .6rem 1rem; font: 1rem system-ui; background: #e8edf3; }" +
  ".report-bar button, .report-bar a { font: inherit; padding: .3rem .7rem; } " +
  "@media print { .report-bar { display: none; } }";

export async function openReport() {
  const now = state();
  const shown = /** @type {(Window & typeof globalThis) | null} */ (open("", "_blank"));
  const title = `${slug(titleOf(session.problem))}-${day()}`;
  const said = element("p", {}, "Working on the report …");
  if (!shown) return;
  shown.document.title = title;
  shown.document.documentElement.lang = "en";
  shown.document.body.append(said);
  const stop = new AbortController();
  shown.addEventListener("pagehide", () => stop.abort());
  try {
    const { html } = await startJob("report", { ...asked(now), policy: now.policy }, { signal: stop.signal }).result;
    fill(shown, html, title);
  } catch (error) {
    if (!stop.signal.aborted) said.textContent = error.message;
  }
}

/** @type {(shown: Window & typeof globalThis, html: string, title: string) => void} */
function fill(shown, html, title) {
  /** @type {string[]} */
  const styles = [];
  const plain = html
    .replace(/<style[^>]*>([\s\S]*?)<\/style>/gi, (_, text) => {
      styles.push(text);
      return "";
    })
    .replaceAll(' style="', ' data-style="');
  const read = new DOMParser().parseFromString(plain, "text/html");
  const sheets = [...styles, BAR].map((text) => {
    const sheet = new shown.CSSStyleSheet();
    sheet.replaceSync(text);
    return sheet;
  });
  const save = element(
    "a",
    { download: `${title}.html`, href: URL.createObjectURL(new Blob([html], { type: "text/html" })) },
    "Save",
  );
  const print = element("button", { type: "button", onclick: () => shown.print() }, "Print");
  shown.document.body.replaceChildren(element("div", { class: "report-bar" }, print, save), ...read.body.childNodes);
  for (const styled of findAll(shown.document, "[data-style]")) styled.style.cssText = styled.dataset.style ?? "";
  shown.document.adoptedStyleSheets = sheets;
  shown.document.title = title;
}
