import type { Field } from "../api/types";
import type { Stretch } from "../text/differences";
import { Marked } from "./Marked";
import { Picture } from "./Picture";

/** Longer text is folded to some lines. */
export const LONG = 280;

/** One value of a record: text (differences marked, long text folded), a number, or an image. */
export function FieldValue(props: { field: Field; of: string; stretches?: readonly Stretch[]; folded?: boolean; still?: boolean }) {
  const { field, stretches } = props;
  if (field.kind === "image") return <Picture field={field} of={props.of} still={props.still ?? false} />;
  if (!field.value) return <span class="missing">empty</span>;
  const long = field.value.length > LONG;
  return (
    <span class={long && props.folded ? "value folded" : "value"}>
      {stretches ? <Marked stretches={stretches} /> : field.value}
    </span>
  );
}
