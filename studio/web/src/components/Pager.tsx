import { count, plural } from "../text/words";

/** Which part of a long list is shown, and the way to the rest. */
export function Pager(props: { total: number; offset: number; limit: number; what: string; go(offset: number): void }) {
  const { total, offset, limit, go } = props;
  if (total <= limit) return <p class="faint">{plural(total, props.what)}</p>;
  const last = Math.min(total, offset + limit);
  return (
    <nav class="row pager" aria-label={`Pages of ${props.what}s`}>
      <button type="button" disabled={offset === 0} onClick={() => go(Math.max(0, offset - limit))}>Earlier</button>
      <span class="faint">{count(offset + 1)} to {count(last)} of {plural(total, props.what)}</span>
      <button type="button" disabled={last >= total} onClick={() => go(offset + limit)}>Next</button>
    </nav>
  );
}
