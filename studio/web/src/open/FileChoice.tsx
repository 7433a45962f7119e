import { useState } from "preact/hooks";
import type { Files } from "../api/types";
import { useStudio } from "../state/studio";
import { useFetched } from "../state/useFetched";
import { size } from "../text/words";

/** A table of the folder, or one from this computer. */
export function FileChoice({ chosen, choose }: { chosen: string | null; choose(name: string): void }) {
  const studio = useStudio();
  const files = useFetched<Files>("files");
  const [progress, setProgress] = useState<number | null>(null);
  const [over, setOver] = useState(false);
  const send = (file: File | undefined): void => {
    if (!file || !studio.transport.upload) return;
    setProgress(0);
    studio.transport
      .upload(file, setProgress)
      .then(({ name }) => {
        files.reload();
        choose(name);
      })
      .catch((error: unknown) => studio.say(error instanceof Error ? error.message : String(error), "bad"))
      .finally(() => setProgress(null));
  };
  return (
    <section aria-label="Table">
      <h2>1. Choose a table</h2>
      <ul class="choices" aria-label="Tables in the folder">
        {files.value?.files.map((file) => (
          <li key={file.name}>
            <button type="button" class="choice" aria-pressed={file.name === chosen} onClick={() => choose(file.name)}>
              <b>{file.name}</b> <span class="faint">{size(file.bytes)}</span>
            </button>
          </li>
        ))}
      </ul>
      <label
        class={over ? "drop over" : "drop"}
        onDragOver={(event) => {
          event.preventDefault();
          setOver(true);
        }}
        onDragLeave={() => setOver(false)}
        onDrop={(event) => {
          event.preventDefault();
          setOver(false);
          send(event.dataTransfer?.files[0]);
        }}
      >
        <span>{progress === null ? "Drop a table here (CSV, Excel or Parquet), or choose one from this computer" : `Reading it in: ${Math.round(progress * 100)}%`}</span>
        <input type="file" aria-label="A table from this computer" accept={files.value?.endings.join()} onChange={(event) => send(event.currentTarget.files?.[0])} />
      </label>
    </section>
  );
}
