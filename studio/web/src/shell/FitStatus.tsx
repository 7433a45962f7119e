import { useStudio } from "../state/studio";
import { plural } from "../text/words";

/** What the background is doing: compiling, clustering (can be stopped), or how far it lags behind. */
export function FitStatus() {
  const studio = useStudio();
  const fit = studio.fit.value;
  if (!fit) return null;
  const send = (name: "stop" | "refit"): void =>
    void studio.read(name).catch((error: unknown) => studio.say(error instanceof Error ? error.message : String(error), "bad"));
  if (fit.running) {
    const words = fit.compiling ? "Compiling, once on this machine" : fit.stopping ? "Stopping" : "Clustering";
    return (
      <div class="fit" role="group" aria-label="Clustering">
        <progress aria-label={words} {...(fit.total > 0 && { max: fit.total, value: fit.step })} />
        <span>{words}…</span>
        <button type="button" class="quiet" disabled={fit.stopping} onClick={() => send("stop")}>Stop</button>
      </div>
    );
  }
  return (
    <div class="fit" role="group" aria-label="Clustering">
      {fit.error !== null && <span class="bad">{fit.error}</span>}
      {fit.behind > 0 && <span class="faint">{plural(fit.behind, "change")} not clustered yet</span>}
      {(fit.behind > 0 || fit.error !== null) && <button type="button" class="quiet" onClick={() => send("refit")}>Cluster now</button>}
    </div>
  );
}
