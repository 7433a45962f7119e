import { useEffect, useRef, useState } from "preact/hooks";
import type { Choices, Preview, Use } from "../api/types";
import { Columns } from "../open/Columns";
import { FileChoice } from "../open/FileChoice";
import { Finding } from "../open/Finding";
import { go } from "../state/route";
import { useStudio } from "../state/studio";
import { StudioError } from "../api/transport";
import { plural } from "../text/words";

const start = (file: string): Choices => ({ file, id: null, columns: {}, scale: true, impute: true, records: false });

/** What is sent: how every column is used; of records only what is left out, unless a kind was chosen. */
function columnsOf(preview: Preview, choices: Choices): Record<string, Use> {
  const chosen = Object.values(choices.columns).some((use) => use !== "ignore");
  const used = preview.columns.filter(({ use }) => use !== "id" && (!choices.records || chosen || use === "ignore"));
  return Object.fromEntries(used.map(({ name, use }) => [name, use]));
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
        const { id, records, scale, impute } = found;
        setChoices({ ...next, id, records, scale, impute });
        setClusters(found.clusters);
      })
      .catch((reason: unknown) => call === newest.current && setError(reason instanceof StudioError ? reason.message : String(reason)));
  };
  const open = (): void => {
    if (!choices || !preview) return;
    const body = { ...choices, columns: columnsOf(preview, choices), clusters: choices.records ? null : clusters, session: null };
    void studio.write("open", body, { done: () => go("answer") });
  };
  const choose = (file: string): void => {
    setPreview(null);
    setError(null);
    look(start(file), true);
  };
  const suggested = studio.state.value?.data?.file ?? studio.state.value?.suggested ?? null;
  useEffect(() => {
    document.querySelector<HTMLElement>("#studio-main")?.scrollTo(0, 0);
    if (suggested !== null) choose(suggested);
  }, [suggested]);

  return (
    <>
      <h1>Open a table</h1>
      <FileChoice
        chosen={choices?.file ?? null}
        choose={choose}
      />
      {error && <p class="bad problem" role="alert">{error}</p>}
      {choices && !preview && !error && <p class="empty faint" role="status">Reading {choices.file}…</p>}
      {choices && preview && (
        <>
          <Columns preview={preview} choices={choices} change={look} />
          <Finding preview={preview} choices={choices} clusters={clusters} change={look} setClusters={setClusters} />
          <div class="row open-end">
            {preview.goes_on && <p class="faint">There are answers about this table already: opening it goes on with them.</p>}
            <button type="button" class="answer primary" aria-disabled={studio.busy.value} disabled={preview.error !== null} onClick={open}>
              Open {plural(preview.n_rows, "row")}
            </button>
          </div>
        </>
      )}
    </>
  );
}
