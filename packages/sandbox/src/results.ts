import type { Sandbox as E2bSandbox } from "@e2b/code-interpreter";
import type { BlobRef, CodeResult, RunIo } from "@nova/engine";
import { IoFailure, isFileMissing } from "./failures.ts";
import type { LastAnswer, Result } from "./messages.ts";
import { Result as ResultSchema } from "./messages.ts";
import { checked, DamagedBlob, readBlob, readText, Watched } from "./transfer.ts";

type Success = Extract<Result["result"], { status: "success" }>;
type OutBlob = Success["blobs"][number];

const streamsAtOnce = 6;

/** The code's result with everything it refers to stored. `stored`: hashes of what the input's own texts refer to. */
export async function takeResult(
  sandbox: E2bSandbox,
  answer: Extract<LastAnswer, { type: "result" | "outcome" }>,
  stored: Set<string>,
  io: RunIo,
): Promise<CodeResult> {
  const { result, logs, durationMs } = answer.type === "result" ? answer : await download(sandbox, answer.path);
  if (result.status === "error") return { ...result, logs, durationMs };
  try {
    await storeAll(
      sandbox,
      result.blobs.filter(({ sha256 }) => !stored.has(sha256)),
      io,
    );
  } catch (error) {
    if (!(error instanceof DamagedBlob)) throw error;
    return { status: "error", class: "NodeFailed", message: error.message, traceback: "", logs, durationMs };
  }
  const set = result.set.map(([key, json]) => ({ key, json }));
  return { status: "success", set, delete: result.delete, logs, durationMs };
}

/** Long outcomes come as a file: Jupyter limits the rate of output, 1 MB/s unless told otherwise. */
async function download(sandbox: E2bSandbox, path: string): Promise<Result> {
  return ResultSchema.parse(JSON.parse(await readText(sandbox, path)));
}

async function storeAll(sandbox: E2bSandbox, blobs: OutBlob[], io: RunIo): Promise<void> {
  const waiting = blobs.values();
  const work = async () => {
    for (const blob of waiting) await storeOne(sandbox, blob, io);
  };
  await Promise.all(Array.from({ length: Math.min(streamsAtOnce, blobs.length) }, work));
}

async function storeOne(sandbox: E2bSandbox, { data, ...ref }: OutBlob, io: RunIo): Promise<void> {
  const body = new Watched(checked(ref, await contentOf(sandbox, ref, data)));
  try {
    await io.storeBlob(ref, body);
  } catch (error) {
    throw body.failure ?? new IoFailure(error);
  }
}

async function contentOf(
  sandbox: E2bSandbox,
  ref: BlobRef,
  data: string | undefined,
): Promise<AsyncIterable<Uint8Array>> {
  if (data !== undefined) return once(Buffer.from(data, "base64"));
  try {
    return await readBlob(sandbox, ref.sha256);
  } catch (error) {
    if (isFileMissing(error)) throw new DamagedBlob(`the value ${ref.sha256} is no longer in the sandbox`);
    throw error;
  }
}

async function* once(chunk: Uint8Array): AsyncIterable<Uint8Array> {
  yield chunk;
}
