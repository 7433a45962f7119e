import { useEffect, useRef, useState } from "preact/hooks";
import { type Body, StudioError } from "../api/transport";
import { useStudio } from "./studio";

export interface Fetched<T> {
  readonly value: T | null;
  readonly error: string | null;
  readonly loading: boolean;
  /** Whether the value is about what is asked for now, not about what was before. */
  readonly fresh: boolean;
  reload(): void;
}

/**
 * What a call says, fetched again whenever its body or `freshness` changes. The last value stays
 * on screen meanwhile, and a reply that comes late never replaces a newer one.
 */
export function useFetched<T>(name: string, body: Body = {}, freshness: unknown = 0): Fetched<T> {
  const studio = useStudio();
  const [held, hold] = useState<{ value: T; wanted: string } | null>(null);
  const [error, setError] = useState<string | null>(null);
  const [loading, setLoading] = useState(true);
  const [round, setRound] = useState(0);
  const newest = useRef(0);
  const wanted = JSON.stringify(body);
  useEffect(() => {
    const call = ++newest.current;
    setLoading(true);
    studio
      .read<T>(name, JSON.parse(wanted) as Body)
      .then((found) => {
        if (call !== newest.current) return;
        hold({ value: found, wanted });
        setError(null);
      })
      .catch((reason: unknown) => {
        if (call === newest.current) setError(reason instanceof StudioError ? reason.message : String(reason));
      })
      .finally(() => {
        if (call === newest.current) setLoading(false);
      });
  }, [name, wanted, freshness, round]);
  return { value: held?.value ?? null, error, loading, fresh: held?.wanted === wanted, reload: () => setRound((old) => old + 1) };
}
