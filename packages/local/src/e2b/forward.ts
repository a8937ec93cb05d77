import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Writable } from "node:stream";

/** The last bytes of a stream, as many as its end marker has. */
class Tail {
  bytes: Buffer = Buffer.alloc(0);
  #size: number;

  constructor(size: number) {
    this.#size = size;
  }

  add(chunk: Buffer) {
    this.bytes = (chunk.length >= this.#size ? chunk : Buffer.concat([this.bytes, chunk])).subarray(-this.#size);
  }
}

/**
 * Passes on what the agent still sends, never faster than the client takes it. A client that leaves ends the agent's
 * connection, and an agent that dies in the middle (no end marker) breaks the client's: half a stream never looks whole.
 */
export async function forward(socket: Socket, response: ServerResponse, endMarker: Buffer): Promise<void> {
  const tail = new Tail(endMarker.length);
  const passed = await pass(socket, response, (chunk) => tail.add(chunk));
  if (passed && tail.bytes.equals(endMarker)) response.end();
  else response.destroy();
}

/** The same for an answer whose length is known. */
export async function forwardBytes(socket: Socket, response: ServerResponse, size: number): Promise<void> {
  let count = 0;
  const passed = await pass(socket, response, (chunk) => {
    count += chunk.length;
  });
  if (passed && count === size) response.end();
  else response.destroy();
}

async function pass(socket: Socket, response: ServerResponse, see: (chunk: Buffer) => void): Promise<boolean> {
  const leave = () => socket.destroy();
  response.once("close", leave);
  try {
    for await (const chunk of socket as AsyncIterable<Buffer>) {
      see(chunk);
      if (!response.write(chunk)) await drained(response);
      if (response.destroyed) return false;
    }
    return true;
  } catch {
    return false; // the caller breaks the client's connection
  } finally {
    response.off("close", leave);
    socket.destroy();
  }
}

/** Resolves when the stream takes more, or never will. */
export function drained(stream: Writable): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      stream.off("drain", done).off("close", done);
      resolve();
    };
    stream.once("drain", done).once("close", done);
    if (stream.destroyed) done();
  });
}
