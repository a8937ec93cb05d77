import type { Sandbox as E2bSandbox } from "@e2b/code-interpreter";
import type { RunIo } from "@nova/engine";
import { IoFailure, MalformedAnswer } from "./failures.ts";
import type { Need } from "./messages.ts";
import { WatchedBody, writeStream, writeText } from "./transfer.ts";

const maxParallel = 6;
/**
 * Limit of needs (requests for values) that wait for an answer. Code itself waits for one at a time; the others are
 * blobs that the harness requests in advance.
 */
const maxWaiting = 1000;

/** Returns a function that serves the needs of an attach, a few in parallel. `fail` receives the error of a need. */
export function needServer(
  sandbox: E2bSandbox,
  io: RunIo,
  signal: AbortSignal,
  fail: (error: unknown) => void,
): (need: Need) => void {
  const waiting: Need[] = [];
  let workers = 0;
  const work = async () => {
    workers++;
    for (let need = waiting.shift(); need && !signal.aborted; need = waiting.shift())
      await serveNeed(sandbox, need, io, signal);
    workers--;
  };
  return (need) => {
    if (waiting.length >= maxWaiting) throw new MalformedAnswer(`it asks for more than ${maxWaiting} things at once`);
    waiting.push(need);
    if (workers < maxParallel) work().catch(fail);
  };
}

/** Answers a need with a file in the sandbox. A refusal of the engine goes to the code; other errors end the attach. */
async function serveNeed(sandbox: E2bSandbox, need: Need, io: RunIo, signal: AbortSignal): Promise<void> {
  const response = await fetchNeed(need, io);
  if (!("body" in response)) {
    // Writes an answer or a refusal as one line of JSON. Its final newline shows the harness that the upload is
    // complete.
    const path = "error" in response ? need.refuse : need.put;
    return writeText(sandbox, path, `${JSON.stringify(response)}\n`, signal);
  }
  const body = new WatchedBody(response.body);
  try {
    await writeStream(sandbox, need.put, body, signal);
  } catch (error) {
    throw body.failure === undefined ? error : new IoFailure(body.failure);
  }
}

type Response = { body: AsyncIterable<Uint8Array> } | { value: string | string[] | null } | { error: string };

async function fetchNeed({ blob, outputs, task }: Need, io: RunIo): Promise<Response> {
  try {
    if (blob) return { body: await io.openBlob(blob) };
    if (task !== undefined) return { value: await io.taskUrl(task) };
    return { value: outputs === undefined ? await io.outputNames() : await io.outputs(outputs) };
  } catch (error) {
    if (isRefusal(error)) return { error: error.message };
    throw new IoFailure(error);
  }
}

/** True if the blob was erased or does not belong to the node. */
function isRefusal(error: unknown): error is Error {
  return error instanceof Error && (error.name === "BlobMissing" || error.name === "NodeFailed");
}
