import { useEffect, useState } from "preact/hooks";
import type { StudioRecord } from "../api/types";
import { useStudio } from "../state/studio";

type Pair = readonly [StudioRecord, StudioRecord];

/** The two records with all of their columns, where that is wanted and once they are here. */
export function useWhole(pair: Pair, wanted: boolean): Pair {
  const studio = useStudio();
  const rows = pair.map((record) => record.row);
  const about = rows.join();
  const [whole, setWhole] = useState<{ about: string; pair: Pair } | null>(null);
  useEffect(() => {
    if (!wanted) return;
    let left = false;
    studio
      .read<{ records: [StudioRecord, StudioRecord] }>("records", { rows, whole: true })
      .then(({ records }) => left || setWhole({ about, pair: records }))
      .catch((error: unknown) => studio.say(error instanceof Error ? error.message : String(error), "bad"));
    return () => {
      left = true;
    };
  }, [about, wanted]);
  return wanted && whole?.about === about ? whole.pair : pair;
}
