import type { Sandbox as E2bSandbox } from "@e2b/code-interpreter";
import type { RunIo } from "@nova/engine";
import { IoFailure, MalformedAnswer } from "./failures.ts";
import type { Need } from "./messages.ts";
import { Watched, writeStream, writeText } from "./transfer.ts";

const maxAtOnce = 6;
/** Code waits for one thing at a time; besides there are the blobs that it names. */
const maxWaiting = 1000;

/** Serves the needs of one attach, a few at a time; `fail` hears of the first that cannot be served. */
export function needServer(
  sandbox: E2bSandbox,
  io: RunIo,
  signal: AbortSignal,
  fail: (error: unknown) => void,
): (need: Need) => void {
  const waiting: Need[] = [];
  let atWork = 0;
  const work = async () => {
    atWork++;
    for (let need = waiting.shift(); need && !signal.aborted; need = waiting.shift())
      await serveNeed(sandbox, need, io, signal);
    atWork--;
  };
  return (need) => {
    if (waiting.length >= maxWaiting) throw new MalformedAnswer(`it asks for more than ${maxWaiting} things at once`);
    waiting.push(need);
    if (atWork < maxAtOnce) work().catch(fail);
  };
}

/**
 * Answers one need by a file in the sandbox. What the engine cannot give the code hears of; other errors of its are
 * ours.
 */
async function serveNeed(sandbox: E2bSandbox, need: Need, io: RunIo, signal: AbortSignal): Promise<void> {
  const given = await ask(need, io);
  if (!("body" in given)) {
    // The harness knows by the newline that the upload is complete.
    return writeText(sandbox, "error" in given ? need.refuse : need.put, `${JSON.stringify(given)}\n`, signal);
  }
  const body = new Watched(given.body);
  try {
    await writeStream(sandbox, need.put, body, signal);
  } catch (error) {
    throw body.failure === undefined ? error : new IoFailure(body.failure);
  }
}

type Given = { body: AsyncIterable<Uint8Array> } | { value: string | string[] | null } | { error: string };

async function ask({ blob, outputs, task }: Need, io: RunIo): Promise<Given> {
  try {
    if (blob) return { body: await io.openBlob(blob) };
    if (task !== undefined) return { value: await io.taskUrl(task) };
    return { value: outputs === undefined ? await io.outputNames() : await io.outputs(outputs) };
  } catch (error) {
    if (isRefusal(error)) return { error: error.message };
    throw new IoFailure(error);
  }
}

/** A blob that was erased, or that is not the node's. */
function isRefusal(error: unknown): error is Error {
  return error instanceof Error && (error.name === "BlobMissing" || error.name === "NodeFailed");
}
