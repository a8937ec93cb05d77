import type { Sandbox as E2bSandbox } from "@e2b/code-interpreter";
import type { RunIo } from "@nova/engine";
import { IoFailure } from "./failures.ts";
import type { Need } from "./messages.ts";
import { Watched, writeStream, writeText } from "./transfer.ts";

/**
 * Answers one need by a file in the sandbox. What the engine cannot give the code hears of; other errors of its are
 * ours.
 */
export async function serveNeed(sandbox: E2bSandbox, need: Need, io: RunIo): Promise<void> {
  const given = await ask(need, io);
  if ("refusal" in given) return writeText(sandbox, need.refuse, answerText({ error: given.refusal }));
  if ("value" in given) return writeText(sandbox, need.put, answerText({ value: given.value }));
  const body = new Watched(given.body);
  try {
    await writeStream(sandbox, need.put, body);
  } catch (error) {
    throw body.failure === undefined ? error : new IoFailure(body.failure);
  }
}

type Given = { body: AsyncIterable<Uint8Array> } | { value: string | string[] | null } | { refusal: string };

async function ask({ blob, outputs }: Need, io: RunIo): Promise<Given> {
  try {
    if (blob) return { body: await io.openBlob(blob) };
    return { value: outputs === undefined ? await io.outputNames() : await io.outputs(outputs) };
  } catch (error) {
    if (isRefusal(error)) return { refusal: error.message };
    throw new IoFailure(error);
  }
}

/** A blob that was erased, or that is not the node's. */
function isRefusal(error: unknown): error is Error {
  return error instanceof Error && (error.name === "BlobMissing" || error.name === "NodeFailed");
}

/** The harness knows by the newline that the upload is complete. */
function answerText(answer: { error: string } | { value: string | string[] | null }): string {
  return `${JSON.stringify(answer)}\n`;
}
