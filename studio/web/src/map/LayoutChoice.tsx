import { useStudio } from "../state/studio";

/** Which layout is shown; one that is not there yet is computed in the background. */
export function LayoutChoice({ layout, choose }: { layout: string; choose(name: string): void }) {
  const studio = useStudio();
  const layouts = studio.state.value?.layouts ?? [];
  const current = layouts.find((known) => known.name === layout);
  const pick = (name: string): void => {
    choose(name);
    if (layouts.find((known) => known.name === name)?.state === "none") {
      void studio.read("layout", { name }).catch((error: unknown) => studio.say(error instanceof Error ? error.message : String(error), "bad"));
    }
  };
  return (
    <div>
      <label>
        Layout
        <select value={layout} onChange={(event) => pick(event.currentTarget.value)}>
          {layouts.map(({ name, words, state }) => (
            <option key={name} value={name} disabled={state === "unavailable"}>
              {words ?? name}
              {state === "running" ? " (running)" : state === "unavailable" ? " (not installed)" : ""}
            </option>
          ))}
        </select>
      </label>
      {current && current.state !== "ready" && <p class="faint" role="status">{current.message || "Being computed…"}</p>}
    </div>
  );
}
