import { useState } from "preact/hooks";
import type { StudioRecord } from "../api/types";
import { useGroup } from "../state/useGroup";
import { Dialog } from "./Dialog";
import { RecordSearch } from "./RecordSearch";

interface Props {
  readonly pair: readonly [StudioRecord, StudioRecord];
  /** Shows the kept record beside the chosen one. */
  choose(kept: StudioRecord, chosen: StudioRecord): void;
  close(): void;
}

/** When the two shown are no match: keep one of them and look for the record it belongs with. */
export function PickRecord({ pair, choose, close }: Props) {
  const [side, setSide] = useState(0);
  const group = useGroup();
  return (
    <Dialog title="Pick another record" wide close={close}>
      <fieldset class="segmented">
        <legend>Keep</legend>
        {pair.map((record, at) => (
          <label key={record.row}>
            <input type="radio" name={group} checked={side === at} onChange={() => setSide(at)} /> {record.id}
          </label>
        ))}
      </fieldset>
      <RecordSearch
        label="and compare it with"
        not={pair.map((record) => record.row)}
        choose={(record) => choose(pair[side]!, record)}
      />
    </Dialog>
  );
}
