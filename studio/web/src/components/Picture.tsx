import { useState } from "preact/hooks";
import type { Field } from "../api/types";
import { Dialog } from "./Dialog";

/** An image of a record, larger when clicked (unless `still`); its value as text if it cannot be shown. */
export function Picture({ field, of, still = false }: { field: Field; of: string; still?: boolean }) {
  const [failed, setFailed] = useState(false);
  const [large, setLarge] = useState(false);
  const source = field.src ?? field.value;
  const name = `${field.name} of ${of}`;
  if (!field.value || failed) return <span class="missing">{field.value.slice(0, 120) || "no image"}</span>;
  const image = <img src={source} alt={name} loading="lazy" onError={() => setFailed(true)} />;
  if (still) return <span class="picture">{image}</span>;
  return (
    <>
      <button type="button" class="picture" aria-label={`Enlarge ${name}`} onClick={() => setLarge(true)}>
        {image}
      </button>
      {large && (
        <Dialog title={name} wide close={() => setLarge(false)}>
          <img class="large-picture" src={source} alt={name} />
        </Dialog>
      )}
    </>
  );
}
