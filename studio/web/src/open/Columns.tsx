import type { Choices, Preview, Use } from "../api/types";
import { count } from "../text/words";

const WORDS: Record<Use, string> = {
  auto: "as seems best",
  id: "id",
  number: "number",
  category: "category",
  date: "date",
  text: "text, by its topics",
  words: "text, by its words",
  vector: "vector",
  set: "set, parted by ; or |",
  ignore: "not used",
};
/** Fields of records are compared with one another, not turned into numbers. */
const AS_FIELD: Partial<Record<Use, string>> = { text: "text", number: "amount", ignore: "not compared" };

/** Every column: what is in it, and how it is used. */
export function Columns({ preview, choices, change }: { preview: Preview; choices: Choices; change(next: Choices): void }) {
  return (
    <section aria-label="Columns">
      <h2>2. {choices.records ? "How each field is compared" : "How each column is used"}</h2>
      <label class="inline">
        Rows are named by{" "}
        <select value={choices.id ?? ""} onChange={(event) => change({ ...choices, id: event.currentTarget.value || null })}>
          <option value="">their number</option>
          {preview.columns.map((column) => (
            <option key={column.name}>{column.name}</option>
          ))}
        </select>
      </label>
      <div class="scroll" tabIndex={0} role="region" aria-label="Columns of the table">
        <table class="table columns">
          <thead>
            <tr>
              <th scope="col">Column</th>
              <th scope="col">{choices.records ? "Compared as" : "Used as"}</th>
              <th scope="col" class="number">Different</th>
              <th scope="col" class="number">Empty</th>
              <th scope="col">For example</th>
            </tr>
          </thead>
          <tbody>
            {preview.columns.map((column) => (
              <tr key={column.name}>
                <th scope="row">{column.name}</th>
                <td>
                  {column.use === "id" ? (
                    "id"
                  ) : (
                    <select
                      aria-label={`Use of ${column.name}`}
                      value={column.use}
                      onChange={(event) => change({ ...choices, columns: { ...choices.columns, [column.name]: event.currentTarget.value as Use } })}
                    >
                      {column.choices.filter((use) => use !== "id").map((use) => (
                        <option key={use} value={use}>{(choices.records && AS_FIELD[use]) || WORDS[use]}</option>
                      ))}
                    </select>
                  )}
                </td>
                <td class="number">{column.distinct === null ? "–" : count(column.distinct)}</td>
                <td class="number">{count(column.missing)}</td>
                <td class="faint examples">{column.examples.slice(0, 3).join(", ")}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}
