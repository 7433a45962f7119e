import { type Body, type Listener, StudioError, type Transport, Unreachable } from "./transport";

/** Names whose route is not simply POST /api/NAME. */
const READS: Readonly<Record<string, string>> = {
  state: "state", files: "files", search: "search", records: "records", guidelines: "guidelines",
  map: "map", points: "map/points", order: "map/order", map_labels: "map/labels", map_pairs: "map/pairs",
  clusters: "clusters", cluster_page: "clusters/{number}", members: "clusters/{number}/members",
  doubts: "doubts", history: "history", annotators: "annotators", result: "result",
};
const WRITES: Readonly<Record<string, string>> = { set_guidelines: "guidelines" };
const EVENTS = ["state", "answers", "fit", "layout", "people", "guidelines"];

/** Method and address of a call. */
export function route(name: string, body: Body): { method: "GET" | "POST"; path: string } {
  const read = READS[name];
  if (read === undefined) return { method: "POST", path: `/api/${WRITES[name] ?? name}` };
  const query = new URLSearchParams();
  let path = `/api/${read}`;
  for (const [key, value] of Object.entries(body)) {
    const text = Array.isArray(value) ? value.join(",") : String(value);
    if (path.includes(`{${key}}`)) path = path.replace(`{${key}}`, encodeURIComponent(text));
    else if (value !== null && value !== undefined && text !== "") query.set(key, text);
  }
  const tail = query.toString();
  return { method: "GET", path: tail ? `${path}?${tail}` : path };
}

async function refusal(response: Response): Promise<StudioError> {
  try {
    const { error } = (await response.json()) as { error: { kind: string; message: string } & Body };
    return new StudioError(error.kind, error.message, error);
  } catch {
    return new StudioError("Unexpected", `The server answered ${response.status} ${response.statusText}.`);
  }
}

export class HttpTransport implements Transport {
  private async send(name: string, body: Body): Promise<Response> {
    const { method, path } = route(name, body);
    let response: Response;
    try {
      response = await fetch(path, {
        method,
        ...(method === "POST" && { headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) }),
        ...(name === "release" && { keepalive: true }),
      });
    } catch {
      throw new Unreachable();
    }
    if (!response.ok) throw await refusal(response);
    return response;
  }

  async call(name: string, body: Body): Promise<unknown> {
    return (await this.send(name, body)).json();
  }

  async bytes(name: string, body: Body): Promise<{ buffer: ArrayBuffer; dtype: string }> {
    const response = await this.send(name, body);
    return { buffer: await response.arrayBuffer(), dtype: response.headers.get("X-Type") ?? "" };
  }

  listen(listener: Listener, connection: (live: boolean) => void): () => void {
    const source = new EventSource("/api/events");
    for (const event of EVENTS) {
      source.addEventListener(event, (message: MessageEvent<string>) => listener(event, JSON.parse(message.data)));
    }
    source.onopen = () => connection(true);
    source.onerror = () => connection(false);
    return () => source.close();
  }

  readonly upload = (file: File, progress: (share: number) => void): Promise<{ name: string }> =>
    new Promise((resolve, reject) => {
      const request = new XMLHttpRequest(); // fetch does not tell how far an upload is
      request.open("PUT", `/api/files/${encodeURIComponent(file.name)}`);
      request.setRequestHeader("Content-Type", "application/octet-stream");
      request.upload.onprogress = (event) => progress(event.loaded / event.total);
      request.onerror = () => reject(new Unreachable());
      request.onload = () => {
        if (request.status < 400) resolve(JSON.parse(request.responseText) as { name: string });
        else void refusal(new Response(request.responseText, { status: request.status })).then(reject);
      };
      request.send(file);
    });

  readonly exportAddress = (kind: string): string => `/api/export/${kind}`;
}
