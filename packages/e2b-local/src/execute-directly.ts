import type { Socket } from "node:net";
import { AgentGone, type KeptConnection, readable, readHead } from "./agent-call.ts";
import { cellIn, checkTrafficToken, END, findSandbox, refusalOf } from "./data-plane.ts";
import type { Sandboxes } from "./sandboxes.ts";

/** A request of E2B's SDK to `/execute`, as its `fetch` gets it. */
export interface ExecuteRequest {
  headers: Record<string, string>;
  /** JSON text. */
  body: string;
  signal?: AbortSignal | null;
}

/**
 * Runs a cell for code of this process, without HTTP and web streams. The returned response has only the members that
 * E2B's SDK reads. If the sandbox ends before the cell ends, reading the body of the response fails. `onEnd` is called
 * when the SDK stops reading.
 */
export async function executeDirectly(
  sandboxes: Sandboxes,
  request: ExecuteRequest,
  onEnd: () => void,
): Promise<Response> {
  const { body, signal } = request;
  const headers = new Map(Object.entries(request.headers).map(([name, value]) => [name.toLowerCase(), value]));
  let socket: Socket | undefined;
  const leave = () => void socket?.destroy();
  try {
    const sandbox = findSandbox(sandboxes, headers.get("e2b-sandbox-id"));
    checkTrafficToken(sandbox, headers.get("e2b-traffic-access-token"));
    signal?.throwIfAborted();
    const { calls } = sandbox.lifeline;
    socket = calls.openCall({ op: "execute", ...cellIn(JSON.parse(body)) });
    signal?.addEventListener("abort", leave, { once: true });
    await readHead(socket);
    return cellResponse(calls, socket, signal, () => {
      signal?.removeEventListener("abort", leave);
      onEnd();
    });
  } catch (error) {
    leave();
    onEnd();
    if (signal?.aborted) throw signal.reason;
    const { status, body, message } = refusalOf(error, headers.get("e2b-sandbox-id"));
    return new Response(JSON.stringify(body), { status, statusText: message.slice(0, 100).replace(/[^ -~]/g, "?") });
  }
}

function cellResponse(...cell: Parameters<typeof readerOf>): Response {
  return { ok: true, status: 200, body: { getReader: () => readerOf(...cell) } } as unknown as Response;
}

/** The part of a stream's reader that E2B's SDK uses. */
type Reader = Pick<ReadableStreamDefaultReader<Uint8Array>, "read" | "releaseLock">;

/** Reads a cell's output from the agent's socket. A complete output ends with `END`. */
function readerOf(calls: KeptConnection, socket: Socket, signal: ExecuteRequest["signal"], onEnd: () => void): Reader {
  let tail = Buffer.alloc(0);
  let isReleased = false;
  return {
    async read() {
      while (!tail.equals(END)) {
        const value = socket.read() as Buffer | null;
        if (value !== null) {
          tail = Buffer.concat([tail, value.subarray(-END.length)]).subarray(-END.length);
          return { done: false, value };
        }
        if (socket.readableEnded || socket.destroyed) break;
        await readable(socket);
      }
      if (tail.equals(END)) return { done: true, value: undefined };
      if (signal?.aborted) throw signal.reason;
      // The SDK then asks the control plane whether the sandbox still exists.
      throw Object.assign(new AgentGone("the sandbox ended while it answered"), { code: "ECONNRESET" });
    },
    /** The SDK calls this when it stops reading. No other code reads the socket. */
    releaseLock() {
      if (isReleased) return;
      isReleased = true;
      if (tail.equals(END) && socket.readableLength === 0) calls.keep(socket);
      else socket.destroy();
      onEnd();
    },
  };
}
