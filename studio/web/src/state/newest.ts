import type { Fit, Layout, Person, State, Written } from "../api/types";

/** What comes by itself as well as with the whole state; `at` is larger the later it was read. */
export interface Parts {
  readonly standing: Required<Pick<Written, "counts" | "can_undo" | "can_redo">>;
  readonly fit: { readonly fit: Fit };
  readonly people: { readonly people: readonly Person[] };
  readonly layouts: { readonly layouts: readonly Layout[] };
}

const FIELDS: { readonly [Name in keyof Parts]: readonly (keyof State)[] } = {
  standing: ["counts", "can_undo", "can_redo"],
  fit: ["fit"],
  people: ["people"],
  layouts: ["layouts"],
};

/** The newest of every part: replies and events overtake each other, and what is older is not shown. */
export class Newest {
  private readonly parts = new Map<keyof Parts, { at: number; value: Partial<State> }>();

  /** Whether this is news; remembered if so. */
  take<Name extends keyof Parts>(name: Name, value: Parts[Name], at = Infinity): boolean {
    const known = this.parts.get(name);
    if (known && known.at > at) return false;
    this.parts.set(name, { at: at === Infinity ? (known?.at ?? 0) : at, value });
    return true;
  }

  /** A state in which every part is the newest that was heard of. */
  complete(state: State): State {
    let whole = state;
    for (const name of Object.keys(FIELDS) as (keyof Parts)[]) {
      const own = Object.fromEntries(FIELDS[name].map((field) => [field, state[field]]));
      if (!this.take(name, own as unknown as Parts[typeof name], state.at)) whole = { ...whole, ...this.parts.get(name)!.value };
    }
    return whole;
  }
}
