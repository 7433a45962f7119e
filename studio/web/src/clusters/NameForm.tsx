import { useState } from "preact/hooks";
import { useStudio } from "../state/studio";

/** Names the cluster; an empty name takes it away. */
export function NameForm({ cluster, name }: { cluster: number; name: string | null }) {
  const studio = useStudio();
  const [text, setText] = useState(name ?? "");
  const changed = text.trim() !== (name ?? "");
  return (
    <form
      class="row"
      onSubmit={(event) => {
        event.preventDefault();
        void studio.write("cluster", { action: "name", cluster, name: text.trim(), version: studio.version.value }, {
          done: () => studio.say(text.trim() ? `It is called ${text.trim()} now.` : "The name is gone."),
        });
      }}
    >
      <label class="inline">
        Name{" "}
        <input value={text} maxLength={200} onInput={(event) => setText(event.currentTarget.value)} placeholder="what is in it" />
      </label>
      <button type="submit" class={changed ? "primary" : ""} disabled={!changed}>
        Save the name
      </button>
    </form>
  );
}
