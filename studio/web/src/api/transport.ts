/** A refusal, with the kind and the words of whoever refused. */
export class StudioError extends Error {
  constructor(
    readonly kind: string,
    message: string,
    readonly extra: Readonly<Record<string, unknown>> = {},
  ) {
    super(message);
  }
}

/** The other side could not be reached: nothing is known about whether it heard. */
export class Unreachable extends StudioError {
  constructor() {
    super("Unreachable", "The server cannot be reached. Is the command still running?");
  }
}

export type Body = Readonly<Record<string, unknown>>;
export type Listener = (event: string, data: unknown) => void;

/** How calls and events travel: over HTTP on a page, by messages in a notebook. */
export interface Transport {
  /** Calls a method of the studio by name. */
  call(name: string, body: Body): Promise<unknown>;
  /** The same where numbers come as bytes (positions and labels of the map). */
  bytes(name: string, body: Body): Promise<{ buffer: ArrayBuffer; dtype: string }>;
  /** Events until the returned function is called; `connection` says whether they come. */
  listen(listener: Listener, connection: (live: boolean) => void): () => void;
  /** Sends a file to the folder of the session; null where that makes no sense. */
  readonly upload: ((file: File, progress: (share: number) => void) => Promise<{ name: string }>) | null;
  /** Address of an export; null where there are no addresses. */
  readonly exportAddress: ((kind: string) => string) | null;
}
