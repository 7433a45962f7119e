import type { Undone } from "../api/types";
import { keymap } from "../keys/keymap";
import { useKeys } from "../keys/useKeys";
import { useStudio } from "../state/studio";
import { Key } from "./Key";

/** Takes back (and gives again) one's own steps, as many as there are; works on every page. */
export function UndoRedo() {
  const studio = useStudio();
  const state = studio.state.value;
  const take = async (name: "undo" | "redo"): Promise<void> => {
    const now = studio.state.value;
    if (!(name === "undo" ? now?.can_undo : now?.can_redo)) return studio.say(`Nothing to ${name}.`);
    await studio.write<Undone>(name, {}, {
      done: (result) => {
        studio.say(`${name === "undo" ? "Undone" : "Done again"}: ${result.what}`);
        studio.stepped.value = { name, rows: result.rows };
      },
    });
  };
  const step = (name: "undo" | "redo"): void => studio.inTurn(() => take(name));
  useKeys({ undo: () => step("undo"), redo: () => step("redo") });
  return (
    <div class="undo" role="group" aria-label="Undo and redo">
      <button type="button" class="quiet" aria-disabled={!state?.can_undo} aria-keyshortcuts={keymap.value.undo} onClick={() => step("undo")}>
        Undo <Key of="undo" />
      </button>
      <button type="button" class="quiet" aria-disabled={!state?.can_redo} aria-keyshortcuts={keymap.value.redo} onClick={() => step("redo")}>
        Redo <Key of="redo" />
      </button>
    </div>
  );
}
