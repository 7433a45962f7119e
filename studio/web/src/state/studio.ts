import { batch, computed, signal } from "@preact/signals";
import { createContext } from "preact";
import { useContext } from "preact/hooks";
import { type Body, StudioError, type Transport, Unreachable } from "../api/transport";
import type { Answer, Counts, Fit, State, Written } from "../api/types";
import { Newest, type Parts } from "./newest";

export interface Notice {
  readonly id: number;
  readonly text: string;
  readonly tone: "calm" | "bad";
}

/** An answer that earlier ones rule out, until the person decides. */
export interface Clash {
  readonly message: string;
  readonly answers: readonly Answer[];
  /** Sends it again; `despite`: it is taken all the same, and both stay. */
  again(despite: boolean): void;
}

export interface HowToWrite<T> {
  /** After it is on the disk. */
  done?(result: T): void;
  failed?(error: StudioError): void;
}

const NAME_KEPT_AS = "coterie-studio-name";
const WAITS = [300, 700, 1500, 3000, 5000]; // ms between attempts while the server is silent

/** The state of one page or widget: what the server said last, and how to speak to it. */
export class Studio {
  readonly state = signal<State | null>(null);
  readonly connection = signal<"connecting" | "live" | "lost" | "signed out">("connecting");
  readonly notices = signal<readonly Notice[]>([]);
  readonly clash = signal<Clash | null>(null);
  readonly guidelines = signal<string | null>(null);
  readonly busy = computed(() => this.underway.value > 0);
  /** Grows with every change of the answers, by whomever. */
  readonly writes = signal(0);
  /** The last undo or redo of this page, so that the question it was about can come back. */
  readonly stepped = signal<{ name: "undo" | "redo"; rows: readonly number[] } | null>(null);
  readonly fit = computed<Fit | null>(() => this.state.value?.fit ?? null);
  readonly counts = computed<Counts | null>(() => this.state.value?.counts ?? null);
  readonly session = computed(() => this.state.value?.session ?? null);
  /** Of the labels; pages about clusters are fetched again when it grows. */
  readonly version = computed(() => this.fit.value?.version ?? 0);
  private readonly underway = signal(0); // writes
  private readonly newest = new Newest();
  private stopListening: () => void = () => undefined;
  private lastNotice = 0;
  private renamed = 0;
  private turns: Promise<unknown> = Promise.resolve();
  private written: Promise<unknown> = Promise.resolve();
  private asked: Promise<unknown> = Promise.resolve();

  /** `place`: the only element whose keys are meant, in a notebook that has keys of its own. */
  constructor(
    readonly transport: Transport,
    readonly place: HTMLElement | null = null,
  ) {}

  start(): void {
    this.stopListening = this.transport.listen(
      (event, data) => this.hear(event, data),
      (live) => {
        if (!live) void this.refresh(); // tells a restarted server from one that is gone
        else this.connection.value = "live";
      },
    );
    void this.refresh().then(() => this.recallName());
  }

  close(): void {
    this.stopListening();
  }

  async refresh(): Promise<void> {
    const before = this.renamed;
    try {
      const state = this.newest.complete(await this.read<State>("state"));
      const me = before === this.renamed ? state.me : (this.state.value?.me ?? state.me);
      this.state.value = { ...state, me };
      this.connection.value = "live";
    } catch (error) {
      const signedOut = error instanceof StudioError && error.kind === "NotSignedIn";
      this.connection.value = signedOut ? "signed out" : "lost";
    }
  }

  private hear(event: string, data: unknown): void {
    const { at } = data as { at?: number };
    batch(() => {
      if (event === "state") this.hearState(data as State);
      else if (event === "fit") this.takeFit(data as Fit, at);
      else if (event === "people") this.take("people", { people: (data as Parts["people"]).people }, at);
      else if (event === "guidelines") this.guidelines.value = (data as { text: string }).text;
      else if (event === "layout") this.take("layouts", { layouts: (data as Parts["layouts"]).layouts }, at);
      else if (event === "answers") {
        this.takeStanding(data as Written);
        this.writes.value++;
      }
    });
  }

  private hearState(state: State): void {
    // Who was away may have missed that others wrote: what is shown is fetched again.
    if (this.state.value) this.writes.value++;
    this.state.value = this.newest.complete(state);
  }

  private takeFit(fit: Fit, at: number | undefined): void {
    const newer = fit.version > this.version.value;
    this.take("fit", { fit }, at);
    if (newer) void this.refresh(); // the number of clusters and the advice came with it
  }

  private takeStanding({ counts, can_undo, can_redo, at }: Written): void {
    if (counts && can_undo !== undefined && can_redo !== undefined) this.take("standing", { counts, can_undo, can_redo }, at);
  }

  private take<Name extends keyof Parts>(name: Name, value: Parts[Name], at: number | undefined): void {
    if (this.newest.take(name, value, at)) this.patch(value);
  }

  private patch(part: Partial<State>): void {
    if (this.state.value) this.state.value = { ...this.state.value, ...part };
  }

  // -- calls ---------------------------------------------------------------------------
  async read<T>(name: string, body: Body = {}): Promise<T> {
    return (await this.transport.call(name, body)) as T;
  }

  /** Questions are taken and given back in the order in which the page does it. */
  ask<T>(name: "question" | "release", body: Body): Promise<T> {
    const reply = this.asked.then(() => this.read<T>(name, body));
    this.asked = reply.catch(() => undefined);
    return reply;
  }

  /** Something that changes the log: sent with one key until it is heard; errors become notices. */
  write<T extends Written>(name: string, body: Body, how: HowToWrite<T> = {}): Promise<void> {
    const sent = { key: crypto.randomUUID(), session: this.session.value, ...body };
    this.underway.value++;
    // All that follows from the reply is shown at once, and only then is the page free again.
    const end = (act: () => void): void =>
      batch(() => {
        try {
          act();
        } finally {
          this.underway.value--;
        }
      });
    const written = this.insist(name, sent).then(
      (result) =>
        end(() => {
          this.takeStanding(result as T);
          how.done?.(result as T);
        }),
      (error: unknown) =>
        end(() => this.refused(name, body, how, error instanceof StudioError ? error : new StudioError("Unexpected", String(error)))),
    );
    this.written = written;
    return written;
  }

  private refused<T extends Written>(name: string, body: Body, how: HowToWrite<T>, error: StudioError): void {
    if (error.kind === "ContradictoryAnswer") {
      this.clash.value = {
        message: error.message,
        answers: (error.extra["clash"] as Answer[] | undefined) ?? [],
        again: (despite) => void this.write(name, { ...body, despite_clash: despite }, how),
      };
      return;
    }
    if (error.kind === "OtherSession") void this.refresh();
    if (how.failed) how.failed(error);
    else this.say(error.message, "bad");
  }

  private async insist(name: string, body: Body): Promise<unknown> {
    for (const wait of WAITS) {
      try {
        return await this.transport.call(name, body);
      } catch (error) {
        if (!(error instanceof Unreachable)) throw error;
        this.connection.value = "lost";
        await new Promise((resolve) => setTimeout(resolve, wait));
      }
    }
    return this.transport.call(name, body);
  }

  /** One thing after the other, in the order asked for: keys may come faster than replies. */
  inTurn(act: () => Promise<void>): void {
    const begun = this.written; // what was sent before is undone by what comes after it
    const next = (): Promise<void> => begun.then(act, act);
    this.turns = this.turns.then(next, next);
  }

  // -- saying --------------------------------------------------------------------------
  say(text: string, tone: Notice["tone"] = "calm"): void {
    const notice = { id: ++this.lastNotice, text, tone };
    this.notices.value = [...this.notices.value.slice(-2), notice];
    setTimeout(() => this.dismiss(notice.id), tone === "bad" ? 12_000 : 4_000);
  }

  dismiss(id: number): void {
    this.notices.value = this.notices.value.filter((notice) => notice.id !== id);
  }

  // -- who ----------------------------------------------------------------------------
  async call(name: string): Promise<void> {
    const me = await this.read<{ name: string }>("me", { name });
    this.renamed++;
    this.patch({ me });
    void this.refresh(); // what this person has answered, and can undo
    try {
      localStorage.setItem(NAME_KEPT_AS, me.name);
    } catch {
      // The name then lasts as long as the page.
    }
  }

  private async recallName(): Promise<void> {
    try {
      const name = localStorage.getItem(NAME_KEPT_AS);
      if (name && this.state.value && this.state.value.me.name !== name) await this.call(name);
    } catch {
      // No storage, or the server is gone: the person stays whoever the server says.
    }
  }
}

export const StudioContext = createContext<Studio | null>(null);

export function useStudio(): Studio {
  const studio = useContext(StudioContext);
  if (!studio) throw new Error("a component stands outside of the studio");
  return studio;
}
