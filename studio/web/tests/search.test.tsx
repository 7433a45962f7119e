import { render } from "preact";
import { act } from "preact/test-utils";
import { expect, it, vi } from "vitest";
import type { Body, Transport } from "../src/api/transport";
import { RecordSearch } from "../src/components/RecordSearch";
import { Studio, StudioContext } from "../src/state/studio";

it("says that nothing was found only when that is known of the words typed", async () => {
  const waiting: { words: string; answer(records: unknown[]): void }[] = [];
  const call = (_: string, body: Body): Promise<unknown> =>
    new Promise((resolve) => waiting.push({ words: String(body["q"]), answer: (records) => resolve({ records, more: false }) }));
  const place = document.createElement("div");
  const studio = new Studio({ call } as unknown as Transport);
  render(<StudioContext.Provider value={studio}><RecordSearch label="Find" choose={() => undefined} /></StudioContext.Provider>, place);
  await vi.waitFor(() => expect(waiting).toHaveLength(1));
  await act(() => waiting[0]!.answer([])); // of no words nothing is found

  const field = place.querySelector("input")!;
  field.value = "ann";
  await act(() => void field.dispatchEvent(new Event("input", { bubbles: true })));
  await vi.waitFor(() => expect(waiting[1]?.words).toBe("ann"));
  expect(place.textContent).not.toContain("No record");
  await act(() => waiting[1]!.answer([]));
  await vi.waitFor(() => expect(place.textContent).toContain("No record has all of these words."));
});
