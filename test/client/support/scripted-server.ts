import { expect } from "vitest";

export interface Reply {
  status?: number;
  headers?: Record<string, string>;
  /** The body of the answer. The server sends a text unchanged and any other value as JSON; absent: an empty body. */
  body?: unknown;
}

export interface Sent {
  /** Method and path: `POST /keys?limit=2`. */
  request: string;
  headers: Headers;
  text: string;
}

/** A server that accepts exactly the requests of its script, in the order of the script. */
export class ScriptedServer {
  readonly sent: Sent[] = [];
  readonly #script: [request: string, reply: Reply | Error][];

  constructor(...script: [request: string, reply: Reply | Error][]) {
    this.#script = script;
  }

  readonly fetch = async (request: Request): Promise<Response> => {
    const { pathname, search } = new URL(request.url);
    const asked = `${request.method} ${pathname}${search}`;
    const [expected, reply] = this.#script.shift() ?? ["nothing more", {}];
    expect(asked).toBe(expected);
    this.sent.push({ request: asked, headers: request.headers, text: await request.text() });
    if (reply instanceof Error) throw reply;
    const { status = 200, headers = {}, body } = reply;
    const text = typeof body === "string" ? body : JSON.stringify(body);
    return new Response(body === undefined ? null : text, { status, headers });
  };

  /** Fails if an expected request did not arrive. */
  expectDone(): void {
    expect(this.#script).toEqual([]);
  }
}
