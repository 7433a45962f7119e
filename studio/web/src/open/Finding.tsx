import type { Choices, Preview } from "../api/types";

interface Props {
  readonly preview: Preview;
  readonly choices: Choices;
  readonly clusters: number | null;
  change(next: Choices): void;
  setClusters(n: number | null): void;
}

/** What is looked for: records of one thing, or so many clusters, or as many as there are. */
export function Finding({ preview, choices, clusters, change, setClusters }: Props) {
  const check = (name: "scale" | "impute", words: string) => (
    <label class="inline">
      <input type="checkbox" checked={choices[name]} onChange={(event) => change({ ...choices, [name]: event.currentTarget.checked })} /> {words}
    </label>
  );
  // What a column of features can be is not what a field of records can be: only what is left out stays so.
  const setRecords = (records: boolean): void =>
    change({ ...choices, records, columns: Object.fromEntries(Object.entries(choices.columns).filter(([, use]) => use === "ignore")) });
  return (
    <section aria-label="What to find">
      <h2>3. What to find</h2>
      <fieldset class="segmented stacked">
        <legend class="sr-only">What the rows are</legend>
        <label>
          <input type="radio" name="records" checked={choices.records} onChange={() => setRecords(true)} /> The rows are records of people, firms or things, and some are the same one
        </label>
        <label>
          <input type="radio" name="records" checked={!choices.records} onChange={() => setRecords(false)} /> The rows form clusters of similar ones
        </label>
      </fieldset>
      {!choices.records && (
        <div class="stack start nested">
          <ClusterCount n={preview.n_rows} clusters={clusters} set={setClusters} />
          {check("scale", "Bring numbers to one scale")}
          {check("impute", "Fill what is empty: numbers by their mean, categories by the most frequent")}
        </div>
      )}
    </section>
  );
}

function ClusterCount({ n, clusters, set }: { n: number; clusters: number | null; set(clusters: number | null): void }) {
  return (
    <fieldset class="segmented">
      <legend>Number of clusters</legend>
      <label>
        <input type="radio" name="clusters" checked={clusters === null} onChange={() => set(null)} /> find out
      </label>
      <label>
        <input type="radio" name="clusters" checked={clusters !== null} onChange={() => set(3)} /> this many:
      </label>
      <input
        type="number"
        aria-label="How many clusters"
        min={2}
        max={Math.max(2, n - 1)}
        disabled={clusters === null}
        value={clusters ?? 3}
        onInput={(event) => set(Math.max(2, Number(event.currentTarget.value) || 2))}
      />
    </fieldset>
  );
}
