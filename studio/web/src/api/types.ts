/** What the server (or the notebook's kernel) sends; the contract is described in docs/studio.md. */
export type Word = "same" | "different" | "unknown" | "later";

export interface Field {
  readonly name: string;
  readonly value: string;
  readonly kind: "text" | "number" | "image";
  /** Of a number: how far apart those of its column usually are; null where most are equal. */
  readonly spread?: number | null;
  /** Address of an image that lies in a file. */
  readonly src?: string;
}

export interface StudioRecord {
  readonly row: number;
  readonly id: string;
  readonly cluster: number | null;
  readonly fields: readonly Field[];
}

export interface Answer {
  readonly number: number;
  readonly rows: readonly [number, number];
  readonly ids: readonly [string, string];
  /** The two records in a few words each. */
  readonly lines: readonly [string, string];
  readonly answer: Word;
  readonly certainty: number | null;
  readonly annotator: string | null;
  readonly time: string;
  readonly phase: string;
  readonly step: number | null;
  readonly state: "in force" | "retracted" | "undone";
}

export interface Question {
  /** null: a pair the person chose, not one that was asked. */
  readonly id: string | null;
  readonly kind: "pair" | "set";
  readonly rows: readonly number[];
  readonly records: readonly StudioRecord[];
  readonly phase: string;
  readonly why: string;
  readonly gain: number | null;
  readonly expires: number;
}

export interface Counts {
  readonly same: number;
  readonly different: number;
  readonly unknown: number;
  readonly later: number;
  readonly asked: number;
  readonly known: number;
  readonly budget: number | null;
  readonly mine: number;
}

export interface Fit {
  readonly running: boolean;
  readonly step: number;
  readonly total: number;
  readonly objective: number | null;
  readonly compiling: boolean;
  readonly stopping: boolean;
  readonly version: number;
  readonly behind: number;
  readonly error: string | null;
  readonly seconds: number | null;
}

export interface Layout {
  readonly name: string;
  readonly words?: string;
  readonly state: "none" | "running" | "ready" | "unavailable";
  readonly message: string;
}

export interface Person {
  readonly name: string;
  readonly asking: boolean;
  readonly answers: number;
}

export interface Advice {
  readonly stop: boolean;
  readonly words: string;
}

export interface Data {
  readonly file: string;
  readonly n_rows: number;
  readonly fields: readonly string[];
  /** Columns that are shown only when asked for. */
  readonly n_more_fields: number;
  readonly id_column: string | null;
  readonly records: boolean;
  readonly clusters: number | null;
  readonly strategy: string;
  readonly log: string;
}

export interface State {
  /** Larger the later it was read; see `Newest`. */
  readonly at?: number;
  readonly phase: "empty" | "starting" | "reading" | "compiling" | "ready" | "failed";
  readonly message: string;
  readonly session: string | null;
  readonly data: Data | null;
  readonly me: { readonly name: string };
  readonly people: readonly Person[];
  readonly counts: Counts | null;
  readonly can_undo: boolean;
  readonly can_redo: boolean;
  readonly n_clusters: number | null;
  readonly stability: number | null;
  readonly advice: Advice | null;
  readonly done: string | null;
  readonly fit: Fit | null;
  readonly layouts: readonly Layout[];
  readonly notes: readonly string[];
  /** A table that the command named, to be looked at first. */
  readonly suggested?: string | null;
  readonly version: string;
}

/** After anything that changes the log. */
export interface Written {
  readonly at?: number;
  readonly repeated?: boolean;
  readonly numbers?: readonly number[];
  readonly counts?: Counts;
  readonly can_undo?: boolean;
  readonly can_redo?: boolean;
}

export interface Answered extends Written {
  readonly next: Question | null;
  readonly done: string | null;
  readonly early?: boolean;
}

export interface Undone extends Written {
  readonly what: string;
  readonly rows: readonly number[];
}

export interface MapFacts {
  readonly n: number;
  readonly layouts: readonly Layout[];
  readonly version: number;
  readonly n_clusters: number;
  readonly numbers: readonly number[];
}

/** Row numbers, +1 or -1, and whether the labels break it. */
export type MapPair = readonly [number, number, number, number];

export interface ClusterLine {
  readonly number: number;
  readonly name: string | null;
  readonly size: number;
  readonly share: number;
  readonly pinned: number;
  readonly typical: string;
}

export interface ClusterList {
  readonly version: number;
  readonly total: number;
  readonly clusters: readonly ClusterLine[];
}

export interface StandsOut {
  readonly name: string;
  readonly words: string;
}

export interface ClusterFacts {
  readonly version: number;
  readonly number: number;
  readonly name: string | null;
  readonly size: number;
  readonly share: number;
  readonly stands_out: readonly StandsOut[];
  readonly typical: readonly StudioRecord[];
  readonly doubtful: readonly { readonly record: StudioRecord; readonly words: string }[];
  readonly members: readonly StudioRecord[];
  readonly near: readonly { readonly number: number; readonly name: string | null; readonly size: number }[];
  readonly answers: number;
}

export interface Doubts {
  readonly version: number;
  readonly suspects: readonly {
    readonly answer: Answer;
    readonly p_wrong: number;
    readonly words: string;
    readonly records: readonly StudioRecord[];
  }[];
  readonly contradictions: readonly { readonly answers: readonly Answer[]; readonly words: string }[];
  readonly broken: readonly { readonly answer: Answer; readonly records: readonly StudioRecord[] }[];
  readonly n_answers: number; // that say same or different
  readonly n_broken: number;
  readonly n_contradictions: number;
}

export type Rate = readonly [number, number, number];

export interface Annotator {
  readonly name: string;
  readonly n_same: number;
  readonly n_different: number;
  readonly n_unknown: number;
  readonly agreement: number | null;
  readonly wrong_same: Rate | null;
  readonly wrong_different: Rate | null;
  readonly program: boolean;
}

export interface CurvePoint {
  readonly answers: number;
  readonly clusters: number;
  readonly stability: number | null;
  readonly broken: number;
  readonly foreseen: number | null;
}

export interface Export {
  readonly kind: string;
  readonly name: string;
  readonly words: string;
  readonly available: boolean;
  readonly why: string;
}

export interface Result {
  readonly curve: readonly CurvePoint[];
  readonly stability: number | null;
  readonly n_clusters: number | null;
  readonly n_rows: number;
  readonly counts: Counts;
  readonly advice: Advice | null;
  readonly python: string;
  readonly command: string;
  readonly exports: readonly Export[];
}

export type Use = "auto" | "id" | "number" | "category" | "date" | "text" | "words" | "vector" | "set" | "ignore";

export interface PreviewColumn {
  readonly name: string;
  readonly kind: string;
  readonly use: Use;
  readonly choices: readonly Use[];
  readonly missing: number;
  readonly distinct: number | null;
  /** Every value there, and none twice: it could be the id. */
  readonly unique?: boolean;
  readonly examples: readonly string[];
}

export interface Preview {
  readonly file: string;
  readonly n_rows: number;
  readonly columns: readonly PreviewColumn[];
  readonly features: number;
  readonly id: string | null;
  /** As it was opened the last time. */
  readonly clusters: number | null;
  readonly scale: boolean;
  readonly impute: boolean;
  /** Whether there are answers about it already. */
  readonly goes_on: boolean;
  readonly looks_like_records: boolean;
  readonly records: boolean;
  readonly error: string | null;
}

/** How a table is to be read. */
export interface Choices {
  readonly file: string;
  readonly id: string | null;
  readonly columns: Readonly<Record<string, Use>>;
  readonly scale: boolean;
  readonly impute: boolean;
  readonly records: boolean;
}

export interface Files {
  readonly folder: string;
  readonly files: readonly { readonly name: string; readonly bytes: number }[];
  readonly limit: number;
  readonly endings: readonly string[];
}
