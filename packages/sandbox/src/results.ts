import type { Sandbox as E2bSandbox } from "@e2b/code-interpreter";
import { atOnce, type BlobRef, type CodeResult, jsonProblem, type RunIo, referenceKey } from "@nova/engine";
import { IoFailure, isFileMissing, MalformedAnswer } from "./failures.ts";
import { CodeAnswer, type LastAnswer, misfit, parseAnswer, Result } from "./messages.ts";
import { checked, DamagedBlob, readBytes, readStream, Watched } from "./transfer.ts";

type Success = Extract<CodeAnswer, { status: "success" }>;
type OutBlob = Success["blobs"][number];

const streamsAtOnce = 6;
/** The harness makes no longer ones: large values are blobs beside it. */
const maxResultBytes = 64 << 20;
/** A sandbox can say anything. */
const maxWarnings = 10;

/**
 * The code's result with everything it refers to stored. `stored`: keys of the references in the input's own texts. The
 * code's process writes the result, and hostile code can write it itself: what is not strictly a result fails the node.
 */
export async function takeResult(
  sandbox: E2bSandbox,
  answer: Extract<LastAnswer, { type: "result" | "outcome" }>,
  stored: ReadonlySet<string>,
  io: RunIo,
  signal: AbortSignal,
): Promise<CodeResult> {
  const { result, unfit, weaker, ...more } =
    answer.type === "result" ? answer : await download(sandbox, answer, signal);
  if (weaker !== undefined) warnOnce(weaker);
  const common = { logs: more.logs, durationMs: more.durationMs, ...(unfit && { isUnfit: unfit }) };
  const told = answerIn(result);
  if (told.status === "error") return { ...told, ...common };
  try {
    const unknown = told.blobs.filter((ref) => !stored.has(referenceKey(ref)));
    await atOnce(unknown, (blob) => storeOne(sandbox, blob, io, signal), streamsAtOnce);
  } catch (error) {
    if (!(error instanceof DamagedBlob)) throw error;
    return { ...failure(error.message), ...common };
  }
  const set = told.set.map(([key, json]) => ({ key, json }));
  return { status: "success", set, delete: told.delete, ...common };
}

const warned = new Set<string>();

/** Node prints it on stderr, which is the log of a Lambda. */
function warnOnce(weaker: string): void {
  if (warned.has(weaker) || warned.size > maxWarnings) return;
  warned.add(weaker);
  process.emitWarning(`${weaker} - use a newer Linux (docs/guarantees.md)`, { code: "NOVA_WALLS" });
}

/** Long outcomes come as a file: Jupyter limits the rate of output, 1 MB/s unless told otherwise. */
async function download(
  sandbox: E2bSandbox,
  { path, bytes }: Extract<LastAnswer, { type: "outcome" }>,
  signal: AbortSignal,
): Promise<Result> {
  if (bytes > maxResultBytes) throw new MalformedAnswer(`its result has ${bytes} bytes`);
  const data = await readBytes(sandbox, path, bytes, signal);
  if (data.length < bytes) throw new RangeError(`only ${data.length} of ${bytes} bytes of ${path} have come`);
  return parseAnswer(Result, data.toString());
}

/** What the code's process says that it did; where it says something else, a failure that tells so. */
function answerIn(result: unknown): CodeAnswer {
  const told = CodeAnswer.safeParse(result);
  if (!told.success)
    return failure(`the code left a result that is none (${misfit(told.error.issues)}) - ${leaveAlone}`);
  const problem = told.data.status === "success" ? setProblem(told.data) : undefined;
  return problem === undefined ? told.data : failure(`${problem} - ${leaveAlone}`);
}

function setProblem({ set }: Success): string | undefined {
  const keys = new Set<string>();
  for (const [key, json] of set) {
    if (keys.has(key)) return `the code left two values of ${named(key)}`;
    keys.add(key);
    const problem = jsonProblem(json);
    if (problem !== undefined) return `the value that the code left as ${named(key)} is no JSON: it ${problem}`;
  }
  return undefined;
}

function named(key: string): string {
  return `context[${JSON.stringify(key.length > 80 ? `${key.slice(0, 77)}...` : key)}]`;
}

const leaveAlone = "leave the harness's files alone";

function failure(message: string): Extract<CodeAnswer, { status: "error" }> {
  return { status: "error", class: "NodeFailed", message, traceback: "" };
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
