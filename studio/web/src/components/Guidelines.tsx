import { useEffect, useState } from "preact/hooks";
import { useStudio } from "../state/studio";

/** What the people who answer agreed on; anybody may edit it, everybody sees it at once. */
export function Guidelines() {
  const studio = useStudio();
  const [draft, setDraft] = useState<string | null>(null);
  useEffect(() => {
    void studio
      .read<{ text: string }>("guidelines")
      .then(({ text }) => (studio.guidelines.value ??= text)) // unless somebody has written meanwhile
      .catch(() => undefined); // the pane then stays empty; the page says why nothing is reached
  }, []);
  const text = studio.guidelines.value ?? "";
  const save = (): void =>
    void studio.write("set_guidelines", { text: draft ?? "" }, {
      done: () => {
        studio.guidelines.value = draft ?? "";
        setDraft(null);
      },
    });
  return (
    <section class="guidelines" aria-label="Guidelines">
      <h2>Guidelines</h2>
      {draft === null ? (
        <>
          <p class="pre">{text || "Nothing is written yet. Say here what counts as the same."}</p>
          <button type="button" class="quiet" onClick={() => setDraft(text)}>
            Edit
          </button>
        </>
      ) : (
        <form
          onSubmit={(event) => {
            event.preventDefault();
            save();
          }}
        >
          <textarea aria-label="Guidelines" rows={10} maxLength={20000} value={draft} onInput={(event) => setDraft(event.currentTarget.value)} />
          <div class="row">
            <button type="submit" class="primary">Save</button>
            <button type="button" onClick={() => setDraft(null)}>Cancel</button>
          </div>
        </form>
      )}
    </section>
  );
}
