import type { Stretch } from "../text/differences";

/** A string with what the other side does not have marked: by colour and by an underline. */
export function Marked({ stretches }: { stretches: readonly Stretch[] }) {
  return (
    <>
      {stretches.map((stretch) =>
        stretch.same ? (
          stretch.text
        ) : stretch.slight ? (
          <mark class="differs slight" title="They differ, but less than rows of this table usually do">{stretch.text}</mark>
        ) : (
          <mark class="differs">{stretch.text}</mark>
        ),
      )}
    </>
  );
}
