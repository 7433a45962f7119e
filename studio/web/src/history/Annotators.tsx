import type { Annotator, Rate } from "../api/types";
import { useStudio } from "../state/studio";
import { useFetched } from "../state/useFetched";
import { count, percent } from "../text/words";

/** Who answered how much, how far they agree, and how often each kind of answer is wrong. */
export function Annotators() {
  const studio = useStudio();
  const found = useFetched<{ annotators: Annotator[]; exact: boolean }>("annotators", {}, studio.writes.value);
  const people = found.value?.annotators ?? [];
  if (people.length === 0) return null;
  return (
    <section aria-label="Annotators">
      <h2>Who answered</h2>
      <div class="scroll" tabIndex={0} role="region" aria-label="Table of annotators">
        <table class="table">
          <thead>
            <tr>
              <th scope="col">Name</th>
              <th scope="col" class="number">Same</th>
              <th scope="col" class="number">Different</th>
              <th scope="col" class="number">Unsure</th>
              <th scope="col" class="number">Agrees with others</th>
              <th scope="col">“Same” is wrong</th>
              <th scope="col">“Different” is wrong</th>
            </tr>
          </thead>
          <tbody>
            {people.map((person) => (
              <tr key={person.name}>
                <th scope="row">
                  {person.name}
                  {person.program && <span class="faint"> (program)</span>}
                </th>
                <td class="number">{count(person.n_same)}</td>
                <td class="number">{count(person.n_different)}</td>
                <td class="number">{count(person.n_unknown)}</td>
                <td class="number">{person.agreement === null ? "–" : percent(person.agreement)}</td>
                <td>{rate(person.wrong_same)}</td>
                <td>{rate(person.wrong_different)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

function rate(given: Rate | null): string {
  if (!given || given.some((part) => (part as number | null) === null)) return "–";
  return `${percent(given[0])} (${percent(given[1])} to ${percent(given[2])})`;
}
