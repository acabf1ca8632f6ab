// @ts-check
// The server: questions, jobs, and the uploads that it may have lost.

/** @import { Answer, Failure, JobStatus, Jobs, ProblemSummary, RequestBody } from "./types.d.ts" */

const API = "api/v1/";
const FIRST_POLL = 40; // ms
const LAST_POLL = 400; // ms

export class Cancelled extends Error {}

/**
 * @template {string} Path
 * @param {string} method
 * @param {Path} path
 * @param {RequestBody} [body]
 * @param {AbortSignal} [signal]
 * @returns {Promise<Answer<Path>>}
 */
export async function call(method, path, body, signal) {
  const answer = await send(method, path, body, signal);
  // An upload is known to the server until it is started anew; then it is sent again.
  if (answer.status === 404 && body?.problem && (await sendAgain(body.problem)))
    return read(await send(method, path, body, signal));
  return read(answer);
}

/** @type {(method: string, path: string, body?: RequestBody | FormData, signal?: AbortSignal) => Promise<Response>} */
async function send(method, path, body, signal) {
  const request =
    body === undefined
      ? { method, signal }
      : body instanceof FormData
        ? { method, body, signal }
        : { method, headers: { "content-type": "application/json" }, body: JSON.stringify(body), signal };
  try {
    return await fetch(API + path, request);
  } catch (error) {
    throw isStale(error) ? error : failure(`The server does not answer (${error.message})`, 0);
  }
}

// Whether the same question may have an answer later: it was not refused.
/** @type {(error: Failure) => boolean} */
export const isPassing = ({ status }) =>
  status !== undefined && (status === 0 || status >= 500 || status === 408 || status === 429);

/** @type {(message: string, status: number) => Failure} */
const failure = (message, status) => Object.assign(new Error(message), { status });

/** @type {(answer: Response) => Promise<any>} */
async function read(answer) {
  const document = await answer.json().catch(() => ({}));
  if (!answer.ok)
    throw failure(complaint(document) || `the server answers ${answer.status} ${answer.statusText}`, answer.status);
  return document;
}

/** @type {(refusal: any) => string} */
const complaint = (refusal) => refusal?.detail || refusal?.title || (typeof refusal === "string" ? refusal : "");

/** @type {(name: string) => string} */
export const networkAddress = (name) => `${API}problems/${encodeURIComponent(name)}/network.svg`;

/**
 * Work that takes long. `tell` hears how far it is. It ends with its result, or with an error; if
 * the signal is given, it is cancelled on the server too, and nobody hears of it any more.
 * @template {keyof Jobs} Path
 * @param {Path} path
 * @param {RequestBody} body
 * @param {{ signal: AbortSignal, tell?: (status: JobStatus) => void }} options
 * @returns {{ result: Promise<Jobs[Path]>, cancel: () => void }}
 */
export function startJob(path, body, { signal, tell }) {
  /** @type {string | null} */
  let name = null;
  let isCancelled = false;
  // Sent even while the page is being left.
  const end = () => {
    if (name) fetch(`${API}jobs/${name}`, { method: "DELETE", keepalive: true }).catch(() => {});
  };
  signal.addEventListener("abort", end, { once: true });
  const result = (async () => {
    let found = await call("POST", /** @type {string} */ (path), body);
    name = found.job;
    for (let wait = FIRST_POLL; ["queued", "running"].includes(found.state); wait = Math.min(1.4 * wait, LAST_POLL)) {
      if (isCancelled || signal.aborted) end(); // before it had a name
      signal.throwIfAborted();
      tell?.(found);
      await pause(wait, signal);
      found = await call("GET", `jobs/${name}`).catch((error) => {
        throw error.status === 404 ? failure("The server no longer has this work", 0) : error;
      });
    }
    signal.throwIfAborted();
    name = null;
    if (found.state === "done") return /** @type {Jobs[Path]} */ (found.result);
    if (found.state === "cancelled") throw new Cancelled("Cancelled.");
    throw failure(complaint(found.error) || `the job has ${found.state}`, found.error?.status ?? 500);
  })();
  return {
    result,
    cancel() {
      isCancelled = true;
      end();
    },
  };
}

/** @type {(ms: number, signal?: AbortSignal) => Promise<void>} */
export function pause(ms, signal) {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal?.addEventListener(
      "abort",
      () => {
        clearTimeout(timer);
        resolve();
      },
      { once: true },
    );
  });
}

/** @type {(error: Error | undefined) => boolean} */
export const isStale = (error) => error?.name === "AbortError";

// -- uploads

/** @type {(texts: Record<string, string>) => Promise<ProblemSummary>} */
export async function upload(texts) {
  const form = new FormData();
  for (const [file, text] of Object.entries(texts)) form.append("files", new Blob([text]), file);
  const found = await read(await send("POST", "problems", form));
  try {
    sessionStorage.setItem(`upload:${found.name}`, JSON.stringify(texts));
  } catch {
    /* too large to keep */
  }
  return found;
}

/** @type {(name: string) => Record<string, string> | null} */
export function keptFiles(name) {
  const kept = sessionStorage.getItem(`upload:${name}`);
  return kept ? JSON.parse(kept) : null;
}

/** @type {(name: string) => Promise<boolean>} */
async function sendAgain(name) {
  const kept = keptFiles(name);
  if (!kept) return false;
  await upload(kept);
  return true;
}

/** @type {(name: string) => Promise<ProblemSummary>} */
export async function findProblem(name) {
  const path = `problems/${encodeURIComponent(name)}`;
  const answer = await send("GET", path);
  if (answer.status === 404 && (await sendAgain(name))) return read(await send("GET", path));
  return read(answer);
}
