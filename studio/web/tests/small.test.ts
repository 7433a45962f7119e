import { describe, expect, it } from "vitest";
import { route } from "../src/api/http";
import { DEFAULT_KEYS, keyLabel, keymap, remapped, setKeys } from "../src/keys/keymap";
import { actionOf } from "../src/keys/useKeys";
import { asAnswer, nextOnTable, onTheTable, put, rowsOf, shownPiles } from "../src/sort/piles";
import { parseRoute } from "../src/state/route";
import { how, percent, plural, size } from "../src/text/words";

describe("keys", () => {
  it("swaps keys, so that no key means two things and no action is without one", () => {
    const keys = remapped(DEFAULT_KEYS, "same", "d");
    expect([keys.same, keys.different]).toEqual(["d", "s"]);
    expect(new Set(Object.values(keys)).size).toBe(Object.keys(DEFAULT_KEYS).length);
    expect(remapped(DEFAULT_KEYS, "same", "j").different).toBe("d");
  });

  it("knows what a press stands for after remapping, and undo by Ctrl", () => {
    setKeys(remapped(DEFAULT_KEYS, "same", "j"));
    expect(actionOf(new KeyboardEvent("keydown", { key: "J" }))).toBe("same");
    expect(actionOf(new KeyboardEvent("keydown", { key: "s" }))).toBeNull();
    expect(actionOf(new KeyboardEvent("keydown", { key: "z", ctrlKey: true, shiftKey: true }))).toBe("redo");
    expect(actionOf(new KeyboardEvent("keydown", { key: "d", altKey: true }))).toBeNull();
    expect(JSON.parse(localStorage.getItem("coterie-studio-keys")!)).toMatchObject({ same: "j" });
    setKeys({ ...DEFAULT_KEYS });
    expect(keymap.value.same).toBe("s");
    expect(keyLabel("Enter")).toBe("↵");
  });
});

describe("piles", () => {
  it("moves cards, offers one empty pile, and sends piles that hold something", () => {
    let piles = onTheTable([5, 8, 3]);
    expect(shownPiles(piles)).toEqual([1, 2]);
    piles = put(put(piles, 8, 1), 3, 3);
    expect(shownPiles(piles)).toEqual([1, 2, 3, 4]);
    expect(asAnswer(piles)).toEqual([[8], [3]]);
    expect(rowsOf(piles, 0)).toEqual([5]);
    expect(nextOnTable(piles, 8)).toBe(5);
    expect(nextOnTable(put(piles, 5, 1), 8)).toBe(8);
  });
});

describe("addresses", () => {
  it("reads pages, and takes anything else for the first", () => {
    expect(parseRoute("#/clusters/12")).toEqual({ page: "clusters", rest: "12" });
    expect(parseRoute("#/nonsense")).toEqual({ page: "answer", rest: "" });
    expect(parseRoute("")).toEqual({ page: "answer", rest: "" });
  });

  it("maps calls to routes, with what was said encoded", () => {
    expect(route("answer", { rows: [1] })).toEqual({ method: "POST", path: "/api/answer" });
    expect(route("set_guidelines", {})).toEqual({ method: "POST", path: "/api/guidelines" });
    expect(route("members", { number: 3, offset: 50 })).toEqual({ method: "GET", path: "/api/clusters/3/members?offset=50" });
    expect(route("search", { q: "a&b", not: [1, 2], cluster: null })).toEqual({ method: "GET", path: "/api/search?q=a%26b&not=1%2C2" });
  });
});

describe("words", () => {
  it("writes numbers as people read them", () => {
    expect([plural(1, "row"), plural(12345, "row")]).toEqual(["1 row", "12,345 rows"]);
    expect([percent(0.034), percent(0.5), percent(0)]).toEqual(["3.4%", "50%", "0%"]);
    expect([size(999), size(48_213), size(1_200_000)]).toEqual(["999 B", "48 KB", "1.2 MB"]);
  });
});

describe("how an answer came about", () => {
  it("is told without the names that strategies have for themselves", () => {
    expect(["information", "records", "set", "move", "known"].map(how)).toEqual(["asked", "asked", "sorted", "moved", "known before"]);
  });
});
