import { type Body, type Listener, StudioError, type Transport } from "./transport";

/** What anywidget hands to `render`, as far as it is used here. */
export interface Model {
  send(content: unknown): void;
  on(event: "msg:custom", callback: (content: Reply, buffers: DataView[]) => void): void;
  off(event: "msg:custom", callback: (content: Reply, buffers: DataView[]) => void): void;
  get(name: string): unknown;
}

type Reply =
  | { readonly reply: number; readonly value: unknown; readonly dtype?: string }
  | { readonly reply: number; readonly error: { kind: string; message: string } & Body }
  | { readonly event: string; readonly data: unknown };

interface Waiting {
  resolve(value: { value: unknown; dtype: string; buffer: ArrayBuffer }): void;
  reject(error: StudioError): void;
}

/** Calls as messages of a notebook's kernel; each has a number, which its reply repeats. */
export class MessageTransport implements Transport {
  readonly upload = null;
  readonly exportAddress = null;
  private readonly waiting = new Map<number, Waiting>();
  private readonly listeners = new Set<Listener>();
  private last = 0;

  constructor(private readonly model: Model) {
    model.on("msg:custom", this.receive);
  }

  private readonly receive = (content: Reply, buffers: DataView[]): void => {
    if ("event" in content) {
      for (const listener of this.listeners) listener(content.event, content.data);
      return;
    }
    const waiting = this.waiting.get(content.reply);
    if (!waiting) return; // meant for another view of the same widget
    this.waiting.delete(content.reply);
    if ("error" in content) {
      waiting.reject(new StudioError(content.error.kind, content.error.message, content.error));
      return;
    }
    const view = buffers[0];
    // Copied, because typed arrays need to begin at a multiple of their size.
    const buffer = view
      ? (view.buffer.slice(view.byteOffset, view.byteOffset + view.byteLength) as ArrayBuffer)
      : new ArrayBuffer(0);
    waiting.resolve({ value: content.value, dtype: content.dtype ?? "", buffer });
  };

  private ask(name: string, body: Body): Promise<{ value: unknown; dtype: string; buffer: ArrayBuffer }> {
    // Views share one kernel: numbers of two views must not meet.
    const call = (this.last = this.last ? this.last + 1 : Math.floor(Math.random() * 2 ** 40) + 1);
    return new Promise((resolve, reject) => {
      this.waiting.set(call, { resolve, reject });
      this.model.send({ call, name, body });
    });
  }

  async call(name: string, body: Body): Promise<unknown> {
    return (await this.ask(name, body)).value;
  }

  async bytes(name: string, body: Body): Promise<{ buffer: ArrayBuffer; dtype: string }> {
    return this.ask(name, body);
  }

  listen(listener: Listener, connection: (live: boolean) => void): () => void {
    this.listeners.add(listener);
    connection(true);
    return () => this.listeners.delete(listener);
  }

  close(): void {
    this.model.off("msg:custom", this.receive);
  }
}
