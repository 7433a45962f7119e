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
  ignore: "not used",
};

/** Every column: what is in it, and how it is used. */
export function Columns({ preview, choices, change }: { preview: Preview; choices: Choices; change(next: Choices): void }) {
  return (
    <section aria-label="Columns">
      <h2>2. How each column is used</h2>
      <label class="inline">
        Id{" "}
        <select value={choices.id ?? ""} onChange={(event) => change({ ...choices, id: event.currentTarget.value || null })}>
          <option value="">the number of the row</option>
          {preview.columns.map((column) => (
            <option key={column.name}>{column.name}</option>
          ))}
        </select>
      </label>
      <div class="scroll" tabIndex={0} role="region" aria-label="Columns of the table">
        <table class="table">
          <thead>
            <tr>
              <th scope="col">Column</th>
              <th scope="col">Used as</th>
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
                        <option key={use} value={use}>{WORDS[use]}</option>
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
