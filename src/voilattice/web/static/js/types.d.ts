// The shapes that modules of the page share. There are types alone here: the page does not load this file.

// -- what the address says

/** A state, a number, or null for "not available". */
export type Result = string | number | null;

/** A feature, its result, and how that was had: see `rounds.js`. */
export type Step = [feature: string, found: Result, how?: true | "free"];

export type Finding = [feature: string, found: Result];

/** Another cost of a decision, for what it really is. */
export type Cell = [decision: string, actual: string, cost: number];

export type View = "consult" | "whatif" | "lattice" | "policy" | "curves" | "network";

/** The steps and what is known of their order: see `rounds.js`. */
export interface Entries {
  steps: Step[];
  round: string[] | null;
  entered: string[];
}

export interface State extends Entries {
  problem: string;
  policy: string;
  view: View;
  replaced: Finding[];
  imagined: Finding | null;
  kind: "" | "symmetric" | "asymmetric";
  expected: number | null;
  scale: number;
  prices: Record<string, number>;
  cells: Cell[];
  unread: string[];
}

/** What every request says. */
export interface Question {
  problem: string;
  evidence: Record<string, Result>;
  given: Record<string, Result>;
  unavailable: string[];
  together: string[][];
  stakes: { kind: string; expected: number } | { scale: number } | null;
  prices: Record<string, number>;
  misclassification: Record<string, Record<string, number>>;
}

/** The body of a request: the question, and what its path asks beyond it. */
export interface RequestBody extends Question {
  policy?: string;
  feature?: string;
  features?: string[];
  containing?: string[];
  top?: number;
  points?: number[];
  kinds?: string[];
}

// -- what is at hand

export interface Session {
  /** The problems that the server names. */
  entries: ProblemEntry[];
  /** None: not known yet. */
  policies: string[];
  problem: ProblemSummary | null;
  /** Posterior, prices and bill: here at once. */
  situation: Standing | null;
  /** Perhaps a quick one, see `isQuick`. */
  advice: Advice | null;
  isQuick: boolean;
  /** What each first step leads to; null: not asked, or not yet answered. */
  steps: FirstSteps | null;
}

export type Answered = { [Key in keyof Session]: NonNullable<Session[Key]> };

// -- elements

/** What `element` takes as a child; what is not there is left out. */
export type Child = Node | string | null | undefined | false;

type Heard<E extends Event, On> = E & { target: On; currentTarget: On };

export type OnClick = (event: PointerEvent) => void;

/** The attributes and the listeners of an element. */
export interface Attributes<On> {
  onclick?: OnClick;
  onkeydown?: (event: KeyboardEvent) => void;
  onsubmit?: (event: Heard<Event, On>) => void;
  oninput?: (event: Heard<Event, On>) => void;
  onchange?: (event: Heard<Event, On>) => void;
  [name: string]: string | number | boolean | null | undefined | ((event: never) => void);
}

/** The elements with an id that are more than an HTMLElement. */
interface Controls {
  problem: HTMLSelectElement;
  policy: HTMLSelectElement;
  files: HTMLInputElement;
  undo: HTMLButtonElement;
  again: HTMLButtonElement;
  scale: HTMLInputElement;
  expected: HTMLInputElement;
  "expected-number": HTMLInputElement;
  "lattice-search": HTMLInputElement;
}

export type WithId<Id extends string> = Id extends keyof Controls ? Controls[Id] : HTMLElement;

/** What a selector finds, by the tag or the id at its end. */
export type Found<Selector extends string> = Selector extends `${string} ${infer Last}`
  ? Found<Last>
  : Selector extends `#${infer Id}`
    ? WithId<Id>
    : Selector extends `${infer Tag}${"." | "["}${string}`
      ? Found<Tag>
      : Selector extends keyof HTMLElementTagNameMap
        ? HTMLElementTagNameMap[Selector]
        : HTMLElement;

// -- what the server answers, by the path of the request

export type Answer<Path> = Path extends keyof Answers ? Answers[Path] : JobStatus;

interface Answers {
  policies: string[];
  problems: ProblemEntry[];
  posterior: Standing;
  advise: Advice;
  "first-steps": FirstSteps;
  lattice: Lattice;
}

/** Requests that are answered by a job, and the results of these. */
export interface Jobs {
  "jobs/advise": Advice;
  policy: Policy;
  compare: Comparison;
  threshold: Threshold;
  report: Report;
}

/** An error; the status is that of the answer, 0: there was none. */
export type Failure = Error & { status?: number };

// -- the documents of the server, as its description names them: the keys that the page reads. A test compares
// these lines with the description.

export interface ProblemEntry {
  name: string;
  title: string;
}

export interface ProblemSummary {
  name: string;
  title: string;
  target: string;
  classes: string[];
  decisions: string[];
  prior: Record<string, number>;
  features: string[];
  states: Record<string, string[]>;
  bins: Record<string, number[]>;
  labels: Record<string, string>;
  state_labels: Record<string, Record<string, string>>;
  currency: string;
  misclassification: Record<string, Record<string, number>>;
  evidence: Record<string, string>;
  emc: number;
  costs?: Record<string, number> | null;
  groups?: SharedOverhead[] | null;
  discounts?: Discount[] | null;
  rounds?: RoundCost | null;
  limits: PathLimits;
  rules: string[];
}

export interface SharedOverhead {
  name: string;
  features: string[];
}

export interface Discount {
  name: string;
  off: Record<string, number>;
}

export interface RoundCost {
  cost: number;
}

export interface PathLimits {
  spend: number | null;
  features: number | null;
  rounds: number | null;
}

export interface Standing {
  posterior: Record<string, number>;
  emc: number;
  decision: string;
  decision_costs: Record<string, number>;
  spent: number;
  left: PathLimits;
  costs: Record<string, number | null>;
  bill: Purchase[];
  obstacles: Record<string, string[]>;
}

export interface Purchase {
  features: string[];
  results: Record<string, string>;
  cost: number;
  items: BillItem[];
}

export interface BillItem {
  what: string;
  amount: number;
}

export interface Advice {
  action: "acquire" | "decide";
  features: string[];
  decision: string | null;
  emc: number;
  spent: number;
  benefit: number;
  candidates: SetEntry[];
  barred: SetEntry[];
  ignored: Ignored[];
  reasons: string[];
  fallback: string | null;
  lower_bound: number | null;
  exact: boolean;
  note: string;
}

export interface SetEntry {
  features: string[];
  evi: number;
  cost: number;
  obstacles: string[];
}

export interface Ignored {
  feature: string;
  reason: "separated" | "price" | "barred" | "unavailable";
  why: string;
}

export interface FirstSteps {
  decide: number;
  chosen: string[];
  exact: boolean;
  steps: FirstStep[];
}

export interface FirstStep {
  features: string[];
  cost: number;
  cost_to_go: number;
  lower_bound: number;
  over: number;
  outcomes: OutcomeOfStep[];
  text: string;
}

export interface OutcomeOfStep {
  result: Record<string, string>;
  probability: number;
  cost_to_go: number;
  then: NextStep;
}

export interface NextStep {
  action: "acquire" | "decide";
  features: string[];
  decision: string | null;
}

export interface Lattice {
  nodes: number;
  subsets: number;
  markov_blanket: string[];
  feasible_nodes?: number | null;
  rows: LatticeLevel[];
  svg: string | null;
}

export interface LatticeLevel {
  size: number;
  count: number;
  sets: LatticeSet[];
}

export interface LatticeSet {
  features: string[];
  evi: number | null;
  cost: number | null;
  benefit: number | null;
  feasible: boolean | null;
  best: boolean;
  on_way: boolean;
}

export interface Policy {
  policy: string;
  expected_total_cost: number;
  expected_feature_cost: number;
  expected_rounds: number;
  paths: number;
  verdict: string;
  tree: string;
  flow: string;
}

export interface Comparison {
  rows: ComparisonRow[];
}

export interface ComparisonRow {
  policy: string;
  expected: number;
  expected_total_cost: number | null;
  at_most: number | null;
}

export interface Threshold {
  text: string;
}

export interface Report {
  html: string;
}

export interface JobStatus {
  job: string;
  state: "queued" | "running" | "done" | "failed" | "cancelled";
  progress: string;
  fraction: number | null;
  result: Advice | Policy | Comparison | Threshold | Report | null;
  error: ProblemDetails | null;
}

export interface ProblemDetails {
  title: string;
  status: number;
  detail: string;
}
