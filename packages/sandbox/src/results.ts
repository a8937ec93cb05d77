import type { Sandbox as E2bSandbox } from "@e2b/code-interpreter";
import type { BlobRef, CodeResult, RunIo } from "@nova/engine";
import { IoFailure, isFileMissing, MalformedAnswer } from "./failures.ts";
import type { LastAnswer, Result } from "./messages.ts";
import { parseAnswer, Result as ResultSchema } from "./messages.ts";
import { checked, DamagedBlob, readStream, readText, Watched } from "./transfer.ts";

type Success = Extract<Result["result"], { status: "success" }>;
type OutBlob = Success["blobs"][number];

const streamsAtOnce = 6;
/** The harness makes no longer ones: large values are blobs beside it. */
const mostResultBytes = 64 << 20;

/** The code's result with everything it refers to stored. `stored`: hashes of what the input's own texts refer to. */
export async function takeResult(
  sandbox: E2bSandbox,
  answer: Extract<LastAnswer, { type: "result" | "outcome" }>,
  stored: Set<string>,
  io: RunIo,
  signal: AbortSignal,
): Promise<CodeResult> {
  const { result, logs, durationMs } = answer.type === "result" ? answer : await download(sandbox, answer, signal);
  if (result.status === "error") return { ...result, logs, durationMs };
  try {
    await storeAll(
      sandbox,
      result.blobs.filter(({ sha256 }) => !stored.has(sha256)),
      io,
      signal,
    );
  } catch (error) {
    if (!(error instanceof DamagedBlob)) throw error;
    return { status: "error", class: "NodeFailed", message: error.message, traceback: "", logs, durationMs };
  }
  const set = result.set.map(([key, json]) => ({ key, json }));
  return { status: "success", set, delete: result.delete, logs, durationMs };
}

/** Long outcomes come as a file: Jupyter limits the rate of output, 1 MB/s unless told otherwise. */
async function download(
  sandbox: E2bSandbox,
  { path, bytes }: { path: string; bytes: number },
  signal: AbortSignal,
): Promise<Result> {
  if (bytes > mostResultBytes) throw new MalformedAnswer(`its result has ${bytes} bytes`);
  return parseAnswer(ResultSchema, await readText(sandbox, path, bytes, signal));
}

async function storeAll(sandbox: E2bSandbox, blobs: OutBlob[], io: RunIo, signal: AbortSignal): Promise<void> {
  const waiting = blobs.values();
  const work = async () => {
    for (const blob of waiting) await storeOne(sandbox, blob, io, signal);
  };
  await Promise.all(Array.from({ length: Math.min(streamsAtOnce, blobs.length) }, work));
}

async function storeOne(sandbox: E2bSandbox, { data, ...ref }: OutBlob, io: RunIo, signal: AbortSignal): Promise<void> {
  const body = new Watched(checked(ref, await contentOf(sandbox, ref, data, signal)));
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
  signal: AbortSignal,
): Promise<AsyncIterable<Uint8Array>> {
  if (data !== undefined) return once(Buffer.from(data, "base64"));
  try {
    return await readStream(sandbox, `blobs/${ref.sha256}`, signal);
  } catch (error) {
    if (isFileMissing(error)) throw new DamagedBlob(`the value ${ref.sha256} is no longer in the sandbox`);
    throw error;
  }
}

async function* once(chunk: Uint8Array): AsyncIterable<Uint8Array> {
  yield chunk;
}
