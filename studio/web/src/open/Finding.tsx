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
  const check = (name: "records" | "scale" | "impute", words: string) => (
    <label class="inline">
      <input type="checkbox" checked={choices[name]} onChange={(event) => change({ ...choices, [name]: event.currentTarget.checked })} /> {words}
    </label>
  );
  return (
    <section aria-label="What to find">
      <h2>3. What to find</h2>
      <fieldset class="segmented">
        <legend>Number of clusters</legend>
        <label>
          <input type="radio" name="clusters" checked={clusters === null} onChange={() => setClusters(null)} /> find out
        </label>
        <label>
          <input type="radio" name="clusters" checked={clusters !== null} disabled={choices.records} onChange={() => setClusters(3)} /> this many:
        </label>
        <input
          type="number"
          aria-label="How many clusters"
          min={2}
          max={Math.max(2, preview.n_rows - 1)}
          disabled={clusters === null || choices.records}
          value={clusters ?? 3}
          onInput={(event) => setClusters(Math.max(2, Number(event.currentTarget.value) || 2))}
        />
      </fieldset>
      <div class="stack start">
        {check("records", "The rows are records of people, firms or things, and some are the same one")}
        {!choices.records && check("scale", "Bring numbers to one scale")}
        {!choices.records && check("impute", "Fill what is empty: numbers by their mean, categories by the most frequent")}
      </div>
    </section>
  );
}
