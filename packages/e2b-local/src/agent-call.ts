import type { ServerResponse } from "node:http";
import { connect, type Socket } from "node:net";
import { pipeline } from "node:stream/promises";

/**
 * One request to a sandbox's agent, sent as a line of JSON. A body may follow it on the connection. The first line of
 * the response says whether the agent performs the request.
 */
export type AgentCall = { op: string; [field: string]: unknown };

/** Thrown if the agent refuses an operation. `code` is an error code of the Connect protocol. */
export class AgentRefusal extends Error {
  override readonly name = "AgentRefusal";
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

/** Thrown if the sandbox ends before its agent has answered completely. */
export class AgentGone extends Error {
  override readonly name = "AgentGone";
}

type Head = { ok: true } | { value: unknown } | { error: { code: string; message: string } };

/**
 * Opens a connection and sends the request, which is one line. The caller may then write a body, and has to end the
 * writable side.
 */
export function openCall(path: string, call: AgentCall): Socket {
  const socket = connect(path);
  // If an error occurs, the stream ends without its end marker, so the caller notices it.
  socket.on("error", () => socket.destroy());
  send(socket, call);
  return socket;
}

function send(socket: Socket, call: AgentCall): void {
  socket.write(`${JSON.stringify(call)}\n`);
}

/** A connection to a sandbox's agent that serves one request after another. */
export class KeptConnection {
  readonly #path: string;
  #idle: Socket | undefined;

  constructor(path: string) {
    this.#path = path;
  }

  /** Sends a request on the idle connection, or on a new one. */
  openCall(call: AgentCall): Socket {
    const [idle, kept] = [this.#idle, { ...call, keep: true }];
    this.#idle = undefined;
    if (!idle || idle.destroyed) return openCall(this.#path, kept);
    send(idle, kept);
    return idle;
  }

  /** Keeps a connection for the next request. The caller must have read the response to its end. */
  keep(socket: Socket): void {
    if (socket.destroyed) return;
    this.close();
    this.#idle = socket;
  }

  close(): void {
    this.#idle?.destroy();
  }
}

/** Reads the first line of the response. The rest of the response stays unread on the socket. */
export async function readHead(socket: Socket): Promise<unknown> {
  const line = await readLine(socket);
  const head = JSON.parse(line) as Head;
  if ("error" in head) throw new AgentRefusal(head.error.code, head.error.message);
  return "value" in head ? head.value : undefined;
}

async function readLine(socket: Socket): Promise<string> {
  const parts: Buffer[] = [];
  for (;;) {
    const part = socket.read() as Buffer | null;
    if (part === null) {
      if (socket.readableEnded || socket.destroyed) throw new AgentGone("the sandbox ended before it answered");
      await readable(socket);
      continue;
    }
    const end = part.indexOf(10);
    parts.push(end < 0 ? part : part.subarray(0, end));
    if (end < 0) continue;
    if (end + 1 < part.length) socket.unshift(part.subarray(end + 1));
    return Buffer.concat(parts).toString();
  }
}

/** Resolves when the socket has data, or has ended. */
export function readable(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      socket.off("readable", done).off("end", done).off("close", done);
      resolve();
    };
    socket.on("readable", done).on("end", done).on("close", done);
  });
}

/** Sends a request without a body, and returns the value in its one-line response. */
export async function callAgent(path: string, call: AgentCall): Promise<unknown> {
  const socket = openCall(path, call);
  try {
    return await readHead(socket);
  } finally {
    socket.destroy();
  }
}

/**
 * Forwards the agent's stream to the client, never faster than the client reads. `end` says how to recognise a complete
 * stream: it is the number of bytes, or the last bytes. If the client disconnects, the connection to the agent ends. If
 * the agent dies, the client's connection breaks, so an incomplete stream never looks complete.
 */
export async function forward(socket: Socket, response: ServerResponse, end: number | Buffer): Promise<void> {
  let [count, tail] = [0, Buffer.alloc(0)];
  const whole = async function* (chunks: AsyncIterable<Buffer>) {
    for await (const chunk of chunks) {
      count += chunk.length;
      if (typeof end !== "number") tail = Buffer.concat([tail, chunk.subarray(-end.length)]).subarray(-end.length);
      yield chunk;
    }
    if (typeof end === "number" ? count !== end : !tail.equals(end))
      throw new AgentGone("the sandbox ended while it answered");
  };
  await pipeline(socket, whole, response).catch(() => response.destroy());
}
