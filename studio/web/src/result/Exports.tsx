import type { Export } from "../api/types";
import { useStudio } from "../state/studio";

/** What can be taken away, and why something cannot. */
export function Exports({ exports }: { exports: readonly Export[] }) {
  const address = useStudio().transport.exportAddress;
  return (
    <section aria-label="Export">
      <h2>Take it with you</h2>
      <ul class="exports">
        {exports.map((one) => (
          <li key={one.kind}>
            {one.available && address ? (
              <a class="button" href={address(one.kind)} download={one.name}>{one.name}</a>
            ) : (
              <span class="button off">{one.name}</span>
            )}
            <span class="faint">{one.available ? one.words : one.why}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}
