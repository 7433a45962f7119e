import { useStudio } from "../state/studio";
import { count } from "../text/words";

/** Running counts of everybody's answers, and one's own. */
export function CountsLine() {
  const counts = useStudio().counts.value;
  if (!counts) return null;
  const shown: [string, number][] = [
    ["same", counts.same],
    ["different", counts.different],
    ["unsure", counts.unknown],
    ["later", counts.later],
  ];
  return (
    <p class="counts" aria-label="Answers so far">
      {shown.map(([word, n]) => (
        <span key={word}>
          <b>{count(n)}</b> {word}
        </span>
      ))}
      <span class="faint">
        {count(counts.mine)} yours{counts.budget !== null && `, ${count(counts.asked)} of ${count(counts.budget)} asked`}
      </span>
    </p>
  );
}
