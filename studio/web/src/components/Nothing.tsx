import type { Asking } from "../state/useQuestion";
import { sentence } from "../text/words";

/** Where a question would stand: none is left, none could be fetched, or it is on its way. */
export function Nothing({ asking }: { asking: Asking }) {
  if (asking.error !== null) {
    return (
      <div class="empty" role="alert">
        <p>{asking.error}</p>
        <button type="button" onClick={asking.fetch}>
          Try again
        </button>
      </div>
    );
  }
  if (asking.done === null) return <p class="empty faint">Looking for the next question…</p>;
  return (
    <div class="empty" role="status">
      <h2>{asking.early ? "Enough is known" : "Nothing is left to ask"}</h2>
      <p>{sentence(asking.done)}</p>
      {asking.early && (
        <p>
          <button type="button" onClick={asking.goOn}>
            Go on anyway
          </button>{" "}
          <span class="faint">Further answers would hardly change the clusters.</span>
        </p>
      )}
      <p>
        Look at the <a href="#/clusters">clusters</a>, mend what is wrong on the <a href="#/map">map</a>, or take the{" "}
        <a href="#/result">result</a>.
      </p>
    </div>
  );
}
