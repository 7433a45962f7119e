import { describe, expect, it, vi } from "vitest";
import { MessageTransport, type Model } from "../src/api/messages";
import { type Body, StudioError, type Transport, Unreachable } from "../src/api/transport";
import type { State } from "../src/api/types";
import { Studio } from "../src/state/studio";

type Reply = (name: string, body: Body) => unknown;

function fixture(): State {
  return { session: "s", me: { name: "Ann" }, people: [], counts: null, can_undo: false, can_redo: false, fit: null, layouts: [] } as unknown as State;
}

function studioWith(reply: Reply): { studio: Studio; sent: [string, Body][]; say: (event: string, data: unknown) => void } {
  const sent: [string, Body][] = [];
  let say: (event: string, data: unknown) => void = () => undefined;
  const transport: Transport = {
    upload: null,
    exportAddress: null,
    call: (name, body) => {
      sent.push([name, body]);
      return Promise.resolve().then(() => reply(name, body));
    },
    bytes: () => Promise.reject(new Error("not used")),
    listen: (listener) => {
      say = listener;
      return () => undefined;
    },
  };
  const studio = new Studio(transport);
  studio.state.value = fixture();
  return { studio, sent, say: (event, data) => say(event, data) };
}

describe("writing", () => {
  it("repeats with the same key until it is heard, so that no answer is lost or doubled", async () => {
    vi.useFakeTimers();
    let silent = 2;
    const { studio, sent } = studioWith(() => {
      if (silent-- > 0) throw new Unreachable();
      return { counts: { same: 1 }, can_undo: true, can_redo: false };
    });
    const written = studio.write("answer", { answer: "same" });
    await vi.runAllTimersAsync();
    await written;
    vi.useRealTimers();
    expect(sent).toHaveLength(3);
    expect(new Set(sent.map(([, body]) => body["key"])).size).toBe(1);
    expect(sent[0]![1]).toMatchObject({ session: "s", answer: "same" });
    expect(studio.state.value?.can_undo).toBe(true);
    expect(studio.busy.value).toBe(false);
  });

  it("does not repeat what was refused, and says why", async () => {
    const { studio, sent } = studioWith(() => {
      throw new StudioError("InvalidParameter", "row 9 is not one of the rows");
    });
    await studio.write("answer", {});
    expect(sent).toHaveLength(1);
    expect(studio.notices.value[0]).toMatchObject({ tone: "bad", text: "row 9 is not one of the rows" });
  });

  it("lets the person decide about a contradiction, with a new key", async () => {
    const { studio, sent } = studioWith((_, body) => {
      if (!body["despite_clash"]) throw new StudioError("ContradictoryAnswer", "No.", { clash: [{ number: 4 }] });
      return {};
    });
    const done = vi.fn();
    await studio.write("answer", { answer: "same" }, { done });
    expect(studio.clash.value?.answers).toEqual([{ number: 4 }]);
    studio.clash.value!.again(true);
    await vi.waitFor(() => expect(done).toHaveBeenCalledOnce());
    expect(sent[1]![1]).toMatchObject({ answer: "same", despite_clash: true });
    expect(sent[1]![1]["key"]).not.toBe(sent[0]![1]["key"]);
  });
});

describe("events", () => {
  it("keeps the page live: counts of others' answers and progress of the fit", () => {
    const { studio, say } = studioWith(() => studio.state.value);
    studio.start();
    say("answers", { counts: { same: 3 }, can_undo: false, can_redo: true, by: "Bo", what: "answer" });
    say("fit", { running: false, version: 4 });
    expect(studio.counts.value).toMatchObject({ same: 3 });
    expect(studio.state.value?.can_redo).toBe(true);
    expect([studio.writes.value, studio.version.value]).toEqual([1, 4]);
  });
});

describe("who one is", () => {
  it("decides what is counted as one's own and can be undone, at once", async () => {
    const standing = { Ann: 0, Bo: 7 };
    let me: keyof typeof standing = "Ann";
    const { studio } = studioWith((name, body) => {
      if (name === "me") me = body["name"] as keyof typeof standing;
      return name === "me" ? { name: me } : { ...fixture(), me: { name: me }, counts: { mine: standing[me] }, can_undo: standing[me] > 0 };
    });
    await studio.call("Bo");
    await vi.waitFor(() => expect(studio.counts.value?.mine).toBe(7));
    expect(studio.state.value).toMatchObject({ me: { name: "Bo" }, can_undo: true });
  });
});

describe("messages of a notebook", () => {
  it("matches replies to calls by number, in any order, with bytes and errors", async () => {
    type Callback = Parameters<Model["on"]>[1];
    const sent: { call: number; name: string }[] = [];
    let deliver: Callback = () => undefined;
    const model: Model = {
      send: (content) => sent.push(content as { call: number; name: string }),
      on: (_, callback) => (deliver = callback),
      off: () => undefined,
      get: () => null,
    };
    const transport = new MessageTransport(model);
    const [a, b, c] = [transport.call("state", {}), transport.bytes("points", {}), transport.call("answer", {})];
    const heard = vi.fn();
    transport.listen(heard, () => undefined);
    const data = new Uint8Array([9, 0, 0, 128, 63]);
    deliver({ reply: sent[2]!.call, error: { kind: "InvalidParameter", message: "no" } }, []);
    deliver({ reply: sent[1]!.call, value: null, dtype: "float32" }, [new DataView(data.buffer, 1)]);
    deliver({ reply: sent[0]!.call, value: { phase: "ready" } }, []);
    deliver({ event: "fit", data: { version: 2 } }, []);
    deliver({ reply: -1, value: "another view's" }, []);
    await expect(c).rejects.toThrow("no");
    expect(await a).toEqual({ phase: "ready" });
    expect([...new Float32Array((await b).buffer)]).toEqual([1]);
    expect(heard).toHaveBeenCalledExactlyOnceWith("fit", { version: 2 });
  });
});

describe("what comes late", () => {
  it("never takes the place of something newer, whichever way each came", async () => {
    const old = { ...fixture(), at: 3, counts: { same: 1 }, fit: { running: true, version: 1 }, layouts: [{ name: "pca", state: "running" }] };
    const replies: ((value: unknown) => void)[] = [];
    const { studio, say } = studioWith(() => new Promise((resolve) => replies.push(resolve)));
    studio.start(); // asks for the state, which is read on the server now and comes last
    await vi.waitFor(() => expect(replies).toHaveLength(1));
    say("answers", { at: 6, counts: { same: 2 }, can_undo: true, can_redo: false });
    say("fit", { at: 5, running: false, version: 1 });
    say("layout", { at: 7, layouts: [{ name: "pca", state: "ready" }] });
    say("answers", { at: 4, counts: { same: 9 }, can_undo: false, can_redo: false });
    replies[0]!(old);
    await vi.waitFor(() => expect(studio.connection.value).toBe("live"));
    expect(studio.counts.value).toEqual({ same: 2 });
    expect(studio.fit.value?.running).toBe(false);
    expect(studio.state.value?.layouts[0]?.state).toBe("ready");
    expect(studio.state.value?.can_undo).toBe(true);
  });

  it("undoes what was sent before, not what was heard before", async () => {
    const heard: string[] = [];
    const replies: ((value: unknown) => void)[] = [];
    const { studio } = studioWith(() => new Promise((resolve) => replies.push(resolve)));
    void studio.write("answer", {}, { done: () => heard.push("answer") });
    studio.inTurn(() => Promise.resolve(void heard.push("undo")));
    await vi.waitFor(() => expect(replies).toHaveLength(1));
    expect([heard, studio.busy.value]).toEqual([[], true]);
    replies[0]!({});
    await vi.waitFor(() => expect(heard).toEqual(["answer", "undo"]));
    expect(studio.busy.value).toBe(false);
  });

  it("gives a question back before it takes the next", async () => {
    const replies: ((value: unknown) => void)[] = [];
    const { studio, sent } = studioWith(() => new Promise((resolve) => replies.push(resolve)));
    const both = [studio.ask("release", { question: "q" }), studio.ask("question", {})];
    await vi.waitFor(() => expect(replies).toHaveLength(1));
    expect(sent.map(([name]) => name)).toEqual(["release"]);
    replies[0]!({});
    await vi.waitFor(() => expect(replies).toHaveLength(2));
    replies[1]!({});
    await Promise.all(both);
  });
});
