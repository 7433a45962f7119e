import { useState } from "preact/hooks";
import { useStudio } from "../state/studio";
import { plural } from "../text/words";
import { Dialog } from "../components/Dialog";

/** Who one is, and who else is here. */
export function People() {
  const studio = useStudio();
  const state = studio.state.value;
  const [open, setOpen] = useState(false);
  const [name, setName] = useState("");
  if (!state) return null;
  const others = state.people.filter((person) => person.name !== state.me.name);
  return (
    <>
      <button
        type="button"
        class="quiet person"
        aria-label={`You are ${state.me.name}; change your name`}
        onClick={() => {
          setName(state.me.name);
          setOpen(true);
        }}
      >
        {state.me.name}
        {others.length > 0 && <span class="badge" aria-label={plural(others.length, "other person", "other people")}>+{others.length}</span>}
      </button>
      {open && (
        <Dialog title="Who is answering?" close={() => setOpen(false)}>
          <form
            class="stack"
            onSubmit={(event) => {
              event.preventDefault();
              void studio
                .call(name.trim())
                .then(() => setOpen(false))
                .catch((error: unknown) => studio.say(error instanceof Error ? error.message : String(error), "bad"));
            }}
          >
            <label>
              Your name
              <input value={name} required maxLength={80} autofocus onInput={(event) => setName(event.currentTarget.value)} />
            </label>
            <p class="faint">It is written beside every answer you give.</p>
            <button type="submit" class="primary" disabled={!name.trim()}>Save</button>
          </form>
          {others.length > 0 && (
            <>
              <h3>Also here</h3>
              <ul class="plain">
                {others.map((person) => (
                  <li key={person.name}>
                    {person.name} <span class="faint">{plural(person.answers, "answer")}{person.asking && ", answering"}</span>
                  </li>
                ))}
              </ul>
            </>
          )}
        </Dialog>
      )}
    </>
  );
}
