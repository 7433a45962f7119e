import { useCallback, useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { type Body, StudioError } from "../api/transport";
import type { Answered, Question, StudioRecord } from "../api/types";
import { useStudio } from "./studio";

export interface Asking {
  readonly question: Question | null;
  readonly done: string | null;
  /** Questions are left, but more of them would hardly change anything. */
  readonly early: boolean;
  readonly error: string | null;
  /** A reply is on its way: what is on screen may still change. */
  readonly waiting: boolean;
  /** Sends an answer and shows the next question, which comes with the reply. */
  tell(answer: Body): void;
  /** Shows a pair that nobody asked about. */
  show(records: readonly StudioRecord[], why: string): void;
  /** The same, by the numbers of the rows. */
  showRows(rows: readonly number[], why: string): void;
  /** Asks further, although what is known seems enough. */
  goOn(): void;
  /** Fetches the question that is leased to this person (the same until it is answered). */
  fetch(): void;
}

interface Held {
  /** Session, person, kind and size that it was asked for; shown to nobody else. */
  readonly about: string;
  readonly question: Question | null;
  readonly done: string | null;
  readonly early?: boolean | undefined;
  readonly error: string | null;
}

const PLANNED_AGAIN = 400; // ms until the page asks again for a question that is being planned

/** The question on screen: leased, answered, undone and back again. */
export function useQuestion(kind: "pair" | "set", size: number | null = null): Asking {
  const studio = useStudio();
  const about = JSON.stringify([studio.session.value, studio.state.value?.me.name, kind, size]);
  const nothing: Held = { about, question: null, done: null, error: null };
  const [kept, keep] = useState<Held>(nothing);
  const [waiting, setWaiting] = useState(true);
  // A question of another size, person or table is never on screen, whatever reply comes late.
  const held = kept.about === about ? kept : nothing;
  const { question } = held;
  const shown = useRef<Question | null>(null);
  shown.current = question;
  const newest = useRef(0); // a reply that comes late never replaces a newer one
  const wanted = size === null ? {} : { size };

  /** Shows what the call leads to, unless something newer was asked for meanwhile or the page was left. */
  const showLater = (reply: Promise<Omit<Held, "about" | "error">>): void => {
    const call = ++newest.current;
    setWaiting(true);
    const end = (found: Held): void => {
      if (call !== newest.current) return;
      keep(found);
      setWaiting(false);
    };
    reply.then(
      (found) => end({ ...found, about, error: null }),
      (reason: unknown) => end({ ...nothing, error: reason instanceof StudioError ? reason.message : String(reason) }),
    );
  };

  const fetch = useCallback(() => showLater(studio.ask("question", { kind, ...wanted })), [about]);

  // While none of the planned questions is free, the server says neither question nor end.
  useEffect(() => {
    if (waiting || held.error !== null || held.done !== null || question !== null) return undefined;
    const timer = setTimeout(fetch, PLANNED_AGAIN);
    return () => clearTimeout(timer);
  }, [held, waiting]);

  // A set of another size takes the place of the one on screen: the server gives that one back.
  useLayoutEffect(fetch, [about]);

  // Where nothing was left to ask, what somebody writes may open a question again.
  useEffect(() => {
    if (held.done !== null) fetch();
  }, [studio.writes.value]);

  useEffect(
    () => () => {
      newest.current++;
      const id = shown.current?.id;
      if (id) void studio.ask("release", { question: id }).catch(() => undefined);
    },
    [],
  );

  // A lease lasts two minutes: while the page is looked at it is renewed.
  useEffect(() => {
    const id = question?.id;
    if (!id) return;
    const renew = (): void => {
      if (!document.hidden) void studio.ask("question", { kind, ...wanted }).catch(() => undefined);
    };
    const timer = setInterval(renew, Math.max(10, question.expires / 2) * 1000);
    return () => clearInterval(timer);
  }, [question?.id]);

  const volunteered = (records: readonly StudioRecord[], why: string): Question => ({
    id: null, kind, rows: records.map((record) => record.row), records, phase: "volunteered", why, gain: null, expires: 0,
  });

  const show = (records: readonly StudioRecord[], why: string): void => {
    newest.current++;
    setWaiting(false);
    keep({ ...nothing, question: volunteered(records, why) });
  };

  const showRows = (rows: readonly number[], why: string): void =>
    showLater(
      studio
        .read<{ records: StudioRecord[] }>("records", { rows })
        .then(({ records }) => ({ question: volunteered(records, why), done: null })),
    );

  const tell = (answer: Body): void => {
    if (!question || waiting || studio.busy.value) return;
    const body = { question: question.id, rows: question.rows, ...answer, next: kind, ...wanted };
    const call = ++newest.current;
    void studio.write<Answered>("answer", body, {
      done: (reply) => {
        if (call === newest.current) keep({ ...nothing, question: reply.next, done: reply.done, early: reply.early });
      },
      failed: (refused) => {
        if (refused.kind !== "StaleQuestion") return studio.say(refused.message, "bad");
        studio.say("That question was answered in the meantime; here is the next one.");
        fetch();
      },
    });
  };

  const goOn = (): void => showLater(studio.read("go_on").then(() => studio.ask("question", { kind, ...wanted })));

  const planned = question !== null || held.done !== null || held.error !== null;
  return { question, done: held.done, early: held.early ?? false, goOn, error: held.error, waiting: waiting || !planned, tell, show, showRows, fetch };
}
