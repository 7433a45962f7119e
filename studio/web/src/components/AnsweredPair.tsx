import { useState } from "preact/hooks";
import type { Answer, StudioRecord } from "../api/types";
import { Dialog } from "./Dialog";
import { PairTable } from "./PairTable";
import { useFetched } from "../state/useFetched";
import { WORDS } from "../text/words";

/** The two records that an answer was about. */
export function AnsweredPair({ answer, close }: { answer: Answer; close(): void }) {
  const found = useFetched<{ records: StudioRecord[] }>("records", { rows: answer.rows });
  const [folded, setFolded] = useState(true);
  const [left, right] = found.value?.records ?? [];
  return (
    <Dialog title={`Answer ${answer.number}: ${WORDS[answer.answer].toLowerCase()}`} wide close={close}>
      {left && right ? (
        <PairTable left={left} right={right} folded={folded} toggleFold={() => setFolded(!folded)} />
      ) : (
        <p class="faint" role="status">{found.error ?? "Fetching…"}</p>
      )}
    </Dialog>
  );
}
