import { useState } from "preact/hooks";
import { useStudio } from "../state/studio";

/** What the reader of the table had to say: values filled, rows that changed since the last time. */
export function Notes() {
  const notes = useStudio().state.value?.notes ?? [];
  const [seen, setSeen] = useState(0);
  if (notes.length <= seen) return null;
  return (
    <div class="notes" role="note" aria-label="Notes on the table">
      <ul>
        {notes.map((note) => (
          <li key={note}>{note}</li>
        ))}
      </ul>
      <button type="button" class="quiet" aria-label="Dismiss the notes" onClick={() => setSeen(notes.length)}>✕</button>
    </div>
  );
}
