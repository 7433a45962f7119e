import { useEffect, useRef, useState } from "preact/hooks";
import type { Choices, Preview } from "../api/types";
import { Columns } from "../open/Columns";
import { FileChoice } from "../open/FileChoice";
import { Finding } from "../open/Finding";
import { go } from "../state/route";
import { useStudio } from "../state/studio";
import { StudioError } from "../api/transport";
import { plural } from "../text/words";

const start = (file: string): Choices => ({ file, id: null, columns: {}, scale: true, impute: true, records: false });

/** A column that is called like an id and holds no value twice. */
function idAmong(preview: Preview): string | null {
  return preview.columns.find((column) => column.unique && /^(id|key|.*[ _-]id)$/i.test(column.name))?.name ?? null;
}

/** Opens a table: which file, which id, how columns are used, how many clusters. */
export function OpenPage() {
  const studio = useStudio();
  const [choices, setChoices] = useState<Choices | null>(null);
  const [preview, setPreview] = useState<Preview | null>(null);
  const [clusters, setClusters] = useState<number | null>(null);
  const [error, setError] = useState<string | null>(null);
  const newest = useRef(0); // a reply that comes late never replaces a newer one

  const look = (next: Choices, first = false): void => {
    const call = ++newest.current;
    setChoices(next);
    // At first the server says what the table looks like; from then on the person decides.
    const { file, ...rest } = next;
    studio
      .read<Preview>("preview", first ? { file } : { file, ...rest })
      .then((found) => {
        if (call !== newest.current) return;
        setPreview(found);
        setError(found.error);
        if (!first) return;
        const id = found.id ?? idAmong(found);
        const guessed = { ...next, id, records: found.records };
        if (id === found.id) setChoices(guessed);
        else look(guessed);
      })
      .catch((reason: unknown) => call === newest.current && setError(reason instanceof StudioError ? reason.message : String(reason)));
  };
  const open = (): void => {
    if (!choices || !preview) return;
    const columns = Object.fromEntries(preview.columns.filter((column) => column.use !== "id").map((column) => [column.name, column.use]));
    const body = { ...choices, columns, clusters: choices.records ? null : clusters, session: null };
    void studio.write("open", body, { done: () => go("answer") });
  };
  useEffect(() => {
    document.querySelector<HTMLElement>("#studio-main")?.scrollTo(0, 0);
  }, []);

  return (
    <>
      <h1>Open a table</h1>
      <FileChoice
        chosen={choices?.file ?? null}
        choose={(file) => {
          setPreview(null);
          look(start(file), true);
        }}
      />
      {error && <p class="bad" role="alert">{error}</p>}
      {choices && preview && (
        <>
          <Columns preview={preview} choices={choices} change={look} />
          <Finding preview={preview} choices={choices} clusters={clusters} change={look} setClusters={setClusters} />
          <div class="row open-end">
            <button type="button" class="answer primary" aria-disabled={studio.busy.value} disabled={preview.error !== null} onClick={open}>
              Open {plural(preview.n_rows, "row")}
            </button>
          </div>
        </>
      )}
    </>
  );
}
