import { useMemo } from "preact/hooks";
import type { Field, StudioRecord } from "../api/types";
import { useStudio } from "../state/studio";
import { plural } from "../text/words";
import { type Differences, differences, worthMarking } from "../text/differences";
import { FieldValue, LONG } from "./FieldValue";
import { Key } from "./Key";
import { useWhole } from "./useWhole";

interface Props {
  readonly left: StudioRecord;
  readonly right: StudioRecord;
  /** Long text is cut short, and of many columns the first are shown. */
  readonly folded: boolean;
  toggleFold(): void;
}

/** Two records side by side, a row for each field; on a phone the two values stand under its name. */
export function PairTable({ folded, toggleFold, ...shown }: Props) {
  const more = useStudio().state.value?.data?.n_more_fields ?? 0;
  const [left, right] = useWhole([shown.left, shown.right], more > 0 && !folded);
  const long = [...left.fields, ...right.fields].some((field) => field.kind === "text" && field.value.length > LONG);
  const what = [...(long ? ["all of the long text"] : []), ...(more > 0 ? [plural(more, "more column")] : [])].join(" and ");
  return (
    <div class="pair">
      <table class="pair-table">
        <thead>
          <tr>
            <th scope="col">
              <span class="sr-only">Field</span>
            </th>
            <th scope="col">{left.id}</th>
            <th scope="col">{right.id}</th>
          </tr>
        </thead>
        <tbody>
          {left.fields.map((field, at) => (
            <FieldRow key={field.name} name={field.name} ids={[left.id, right.id]} left={field} right={right.fields[at]!} folded={folded} />
          ))}
        </tbody>
      </table>
      {what && (
        <button type="button" class="quiet" aria-expanded={!folded} onClick={toggleFold}>
          {folded ? `Show ${what}` : "Show less"} <Key of="unfold" />
        </button>
      )}
    </div>
  );
}

/** Numbers differ as a whole: digits in common say nothing. Nearly all do, so those that differ much are marked most. */
function wholly(left: Field, right: Field): Differences {
  const same = left.value === right.value;
  const slight = Math.abs(Number(left.value) - Number(right.value)) < (left.spread ?? 0);
  return { left: [{ text: left.value, same, slight }], right: [{ text: right.value, same, slight }] };
}

function FieldRow(props: { name: string; ids: [string, string]; left: Field; right: Field; folded: boolean }) {
  const { left, right, folded } = props;
  const marked = useMemo(() => {
    if (left.kind === "image" || !left.value || !right.value) return null;
    if (left.kind === "number") return wholly(left, right);
    const found = differences(left.value, right.value);
    return worthMarking(found) ? found : null;
  }, [left, right]);
  const equal = left.value === right.value;
  return (
    <tr class={equal ? "equal" : "unequal"}>
      <th scope="row">
        {props.name}
        {equal && left.value && <span class="sr-only"> (equal)</span>}
      </th>
      <td>
        <FieldValue field={left} of={props.ids[0]} folded={folded} {...(marked && { stretches: marked.left })} />
      </td>
      <td>
        <FieldValue field={right} of={props.ids[1]} folded={folded} {...(marked && { stretches: marked.right })} />
      </td>
    </tr>
  );
}
