import type { ServerResponse } from "node:http";
import { connect, type Socket } from "node:net";
import { pipeline } from "node:stream/promises";

/** One request to a sandbox's agent; `body` is written to the connection, everything after the head is the answer's. */
export type AgentCall = { op: string; [field: string]: unknown };

/** An operation that the agent refused, with the code of the Connect protocol that says why. */
export class AgentRefusal extends Error {
  override readonly name = "AgentRefusal";
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

/** The sandbox ended before it answered. */
export class AgentGone extends Error {
  override readonly name = "AgentGone";
}

type Head = { ok: true } | { value: unknown } | { error: { code: string; message: string } };

/** Opens a connection and sends the request line. The caller may write a body and then ends its side. */
export function openCall(path: string, call: AgentCall): Socket {
  const socket = connect(path);
  socket.on("error", () => socket.destroy()); // whoever reads finds the stream ended without its end marker
  socket.write(`${JSON.stringify(call)}\n`);
  return socket;
}

/** Waits for the answer's first line; the rest of the stream stays on the socket, paused. */
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

function readable(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      socket.off("readable", done).off("end", done).off("close", done);
      resolve();
    };
    socket.on("readable", done).on("end", done).on("close", done);
  });
}

/** A request without a body whose answer is one line. */
export async function callAgent(path: string, call: AgentCall): Promise<unknown> {
  const socket = openCall(path, call);
  try {
    return await readHead(socket);
  } finally {
    socket.destroy();
  }
}

/**
 * Passes on what the agent still sends, never faster than the client takes it. `end`: how many bytes these are, or what
 * the last of them are. A client that leaves ends the agent's connection, and an agent that dies in the middle breaks the
 * client's: half a stream never looks whole.
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
