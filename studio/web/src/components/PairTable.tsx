import { useMemo } from "preact/hooks";
import type { Field, StudioRecord } from "../api/types";
import { type Differences, differences, worthMarking } from "../text/differences";
import { FieldValue, LONG } from "./FieldValue";
import { Key } from "./Key";

interface Props {
  readonly left: StudioRecord;
  readonly right: StudioRecord;
  readonly folded: boolean;
  toggleFold(): void;
}

/** Two records side by side, a row for each field; on a phone the two values stand under its name. */
export function PairTable({ left, right, folded, toggleFold }: Props) {
  const long = [...left.fields, ...right.fields].some((field) => field.kind === "text" && field.value.length > LONG);
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
      {long && (
        <button type="button" class="quiet" aria-expanded={!folded} onClick={toggleFold}>
          {folded ? "Show all of the long text" : "Fold the long text"} <Key of="unfold" />
        </button>
      )}
    </div>
  );
}

/** Numbers differ as a whole: digits in common say nothing. */
function wholly(left: string, right: string): Differences {
  const same = left === right;
  return { left: [{ text: left, same }], right: [{ text: right, same }] };
}

function FieldRow(props: { name: string; ids: [string, string]; left: Field; right: Field; folded: boolean }) {
  const { left, right, folded } = props;
  const marked = useMemo(() => {
    if (left.kind === "image" || !left.value || !right.value) return null;
    if (left.kind === "number") return wholly(left.value, right.value);
    const found = differences(left.value, right.value);
    return worthMarking(found) ? found : null;
  }, [left.kind, left.value, right.value]);
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
