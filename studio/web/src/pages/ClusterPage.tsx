import type { ClusterFacts } from "../api/types";
import { ClusterActions } from "../clusters/ClusterActions";
import { Members } from "../clusters/Members";
import { NameForm } from "../clusters/NameForm";
import { RecordFields } from "../components/RecordFields";
import { Swatch } from "../components/Swatch";
import { useStudio } from "../state/studio";
import { useFetched } from "../state/useFetched";
import { clusterName, percent, plural } from "../text/words";

/** A cluster that was looked at and is no more: merged, taken apart, or found otherwise. */
interface ClusterGone {
  readonly gone: number;
}

/** One cluster: how large, what makes it stand out, who is typical and who is doubtful. */
export function ClusterPage({ number }: { number: number }) {
  const studio = useStudio();
  const found = useFetched<ClusterFacts | ClusterGone>("cluster_page", { number }, `${studio.version.value} ${studio.writes.value}`);
  const facts = found.value;
  const back = <a href="#/clusters" class="back">← All clusters</a>;
  if (facts && "gone" in facts) {
    return (
      <>
        {back}
        <h1>Cluster {number}</h1>
        <p class="empty faint" role="status">There is no such cluster any more; its rows are in others.</p>
      </>
    );
  }
  if (!facts || (found.error !== null && !found.loading)) {
    return (
      <>
        {back}
        <h1>Cluster {number}</h1>
        <p class="empty faint" role="status">{found.error ?? "Fetching…"}</p>
      </>
    );
  }
  return (
    <>
      {back}
      <div class="row spread">
        <h1>
          <Swatch cluster={facts.number} /> {clusterName(facts)}
        </h1>
        <p class="faint">
          {plural(facts.size, "row")}, {percent(facts.share)} of all; {plural(facts.answers, "answer")} about them
        </p>
      </div>
      <div class="row spread">
        <NameForm key={`${facts.number} ${facts.name ?? ""}`} cluster={facts.number} name={facts.name} />
        <ClusterActions facts={facts} />
      </div>
      {facts.stands_out.length > 0 && (
        <section aria-label="What makes it stand out">
          <h2>Stands out by</h2>
          <ul class="stands-out">
            {facts.stands_out.map((fact) => (
              <li key={fact.name}>{fact.words}</li>
            ))}
          </ul>
        </section>
      )}
      <section aria-label="Typical members">
        <h2>Typical</h2>
        <div class="card-row">
          {facts.typical.slice(0, 5).map((record) => (
            <div class="card" key={record.row}>
              <RecordFields record={record} most={8} />
            </div>
          ))}
        </div>
      </section>
      {facts.doubtful.length > 0 && (
        <section aria-label="Doubtful members">
          <h2>Doubtful</h2>
          <div class="card-row">
            {facts.doubtful.slice(0, 5).map(({ record, words }) => (
              <div class="card" key={record.row}>
                <RecordFields record={record} most={8} />
                <p class="faint">{words}</p>
              </div>
            ))}
          </div>
        </section>
      )}
      <Members key={facts.number} cluster={facts.number} size={facts.size} />
    </>
  );
}
