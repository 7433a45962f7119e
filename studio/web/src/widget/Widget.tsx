import { useEffect, useState } from "preact/hooks";
import { ClashDialog } from "../components/ClashDialog";
import { UndoRedo } from "../components/UndoRedo";
import { MapView } from "../map/MapView";
import { AnswerPage } from "../pages/AnswerPage";
import { Notices } from "../shell/Notices";
import { type Studio, StudioContext } from "../state/studio";

const NAMES = { answer: "Answer", map: "Map" } as const;
export type View = keyof typeof NAMES;

/** Answering and the map in a notebook's cell; `views` says which of them. */
export function Widget({ studio, views, readOnly }: { studio: Studio; views: readonly View[]; readOnly: boolean }) {
  const [view, setView] = useState<View>(views[0] ?? "map");
  useEffect(() => {
    studio.start();
    return () => studio.close();
  }, [studio]);
  const ready = studio.state.value?.phase === "ready";
  return (
    <StudioContext.Provider value={studio}>
      {views.length > 1 && (
        <div class="row spread">
          <div class="row tabs" role="group" aria-label="View">
            {views.map((name) => (
              <button key={name} type="button" aria-pressed={view === name} onClick={() => setView(name)}>{NAMES[name]}</button>
            ))}
          </div>
          <UndoRedo />
        </div>
      )}
      {!ready && <p class="faint" role="status">{studio.state.value?.message ?? "One moment…"}</p>}
      {ready && (view === "answer" ? <AnswerPage pane={false} /> : <MapView readOnly={readOnly} />)}
      <Notices />
      <ClashDialog />
    </StudioContext.Provider>
  );
}
