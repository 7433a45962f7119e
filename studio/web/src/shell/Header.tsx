import { useLayoutEffect, useState } from "preact/hooks";
import { UndoRedo } from "../components/UndoRedo";
import { isTyping } from "../keys/useKeys";
import { useStudio } from "../state/studio";
import { count } from "../text/words";
import { FitStatus } from "./FitStatus";
import { KeysDialog } from "./KeysDialog";
import { Nav } from "./Nav";
import { People } from "./People";

/** What is open, what is going on, and the way to everything. */
export function Header() {
  const studio = useStudio();
  const state = studio.state.value;
  const [keys, setKeys] = useState(false);
  useLayoutEffect(() => {
    const listen = (event: KeyboardEvent): void => {
      if (event.key === "?" && !isTyping(event)) setKeys(true);
    };
    document.addEventListener("keydown", listen);
    return () => document.removeEventListener("keydown", listen);
  }, []);
  const ready = state?.phase === "ready";
  return (
    <header class="top">
      <div class="top-line">
        <a class="brand" href="#/open" aria-label="Coterie Studio: open a table">
          Coterie <span>Studio</span>
        </a>
        {state?.data && (
          <a class="file" href="#/open" title="How it was opened; open another table">
            {state.data.file} <span class="faint">{count(state.data.n_rows)} rows</span>
          </a>
        )}
        <span class="grow" />
        {ready && <FitStatus />}
        {ready && <UndoRedo />}
        <button type="button" class="quiet" aria-keyshortcuts="?" onClick={() => setKeys(true)}>
          Keys <kbd class="key" aria-hidden="true">?</kbd>
        </button>
        <People />
      </div>
      {ready && <Nav />}
      {keys && <KeysDialog close={() => setKeys(false)} />}
    </header>
  );
}
