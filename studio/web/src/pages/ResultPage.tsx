import type { Result } from "../api/types";
import { StopHint } from "../components/StopHint";
import { Code } from "../result/Code";
import { Curve } from "../result/Curve";
import { Exports } from "../result/Exports";
import { useStudio } from "../state/studio";
import { useFetched } from "../state/useFetched";
import { count, percent } from "../text/words";

/** What came out, how far it can be trusted, and how to take it away. */
export function ResultPage() {
  const studio = useStudio();
  const found = useFetched<Result>("result", {}, `${studio.version.value} ${studio.writes.value}`);
  const result = found.value;
  if (!result) return <><h1>Result</h1><p class="empty faint" role="status">{found.error ?? "Fetching…"}</p></>;
  const facts: [string, string][] = [
    ["rows", count(result.n_rows)],
    ["clusters", result.n_clusters === null ? "–" : count(result.n_clusters)],
    ["answers", count(result.counts.asked)],
    ["stable", result.stability === null ? "–" : percent(result.stability)],
  ];
  return (
    <>
      <h1>Result</h1>
      <dl class="facts">
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      <StopHint />
      <section aria-label="Learning curve">
        <h2>Learning curve</h2>
        {result.curve.length > 1 ? (
          <Curve points={result.curve} />
        ) : (
          <p class="faint">The curve begins with the second fit after answers.</p>
        )}
      </section>
      <Exports exports={result.exports} />
      <Code title="The same in Python" text={result.python} />
      {result.command && <Code title="The same on the command line" text={result.command} />}
    </>
  );
}
