import { createHash } from "node:crypto";
import type { Sandbox as E2bSandbox } from "@e2b/code-interpreter";
import type { BlobRef, CodeResult, RunIo, RunningLog } from "@nova/engine";
import { atOnce, jsonProblem, referenceKey } from "@nova/engine";
import { z } from "zod";
import type { Connections } from "./connections.ts";
import { asRunError, IoFailure, isFileMissing, isGone, MalformedAnswer } from "./failures.ts";
import { CodeAnswer, type LastAnswer, misfit, parseAnswer, Result } from "./messages.ts";
import { checkBlob, DamagedBlob, readBytes, readStream, WatchedBody } from "./transfer.ts";

type Success = Extract<CodeAnswer, { status: "success" }>;
type OutBlob = Success["blobs"][number];

const streamsAtOnce = 6;
/** Limit of a result. The harness writes no larger results, because large values are separate blobs. */
const maxResultBytes = 64 << 20;
/** Limits the warnings, because a sandbox can send anything. */
const maxWarnings = 10;

/**
 * Reads the code's result and stores the blobs that it references. `stored` holds the keys of references in the input.
 * Hostile code can write the result itself, so anything but a strictly valid result fails the node.
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
  const parsed = parseCodeAnswer(result);
  if (parsed.status === "error") return { ...parsed, ...common };
  try {
    const unknown = parsed.blobs.filter((ref) => !stored.has(referenceKey(ref)));
    await atOnce(unknown, (blob) => storeOne(sandbox, blob, io, signal), streamsAtOnce);
  } catch (error) {
    if (!(error instanceof DamagedBlob)) throw error;
    return { ...failure(error.message), ...common };
  }
  const set = parsed.set.map(([key, json]) => ({ key, json }));
  return { status: "success", set, delete: parsed.delete, ...common };
}

const warned = new Set<string>();

/** Warns once per text about missing isolation. Node prints warnings on stderr, which is the log of a Lambda. */
function warnOnce(weaker: string): void {
  if (warned.has(weaker) || warned.size > maxWarnings) return;
  warned.add(weaker);
  process.emitWarning(`${weaker} - use a newer Linux (docs/guarantees.md)`, { code: "NOVA_WALLS" });
}

/** Reads a long outcome from its file, because Jupyter limits the kernel's stdout to 1 MB/s by default. */
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

/** Parses the result of the code's process. An invalid result becomes a failure that describes the problem. */
function parseCodeAnswer(result: unknown): CodeAnswer {
  const parsed = CodeAnswer.safeParse(result);
  if (!parsed.success)
    return failure(`the code left a result that is none (${misfit(parsed.error.issues)}) - ${leaveAlone}`);
  const problem = parsed.data.status === "success" ? findProblem(parsed.data) : undefined;
  return problem === undefined ? parsed.data : failure(`${problem} - ${leaveAlone}`);
}

function findProblem({ set }: Success): string | undefined {
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
  const body = new WatchedBody(checkBlob(ref, await contentOf(sandbox, ref, data, signal)));
  try {
    await io.storeBlob(ref, body);
  } catch (error) {
    throw body.failure ?? new IoFailure(error);
  }
}

async function contentOf(sandbox: E2bSandbox, ref: BlobRef, data: string | undefined, signal: AbortSignal) {
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

const count = z.int().nonnegative();
const Header = z.object({ step: count, attempt: count, size: count });
/** The largest size of the log's file: the harness writes a header and the last 64 KB of the log. */
const maxBytes = (64 << 10) + 1024;

/**
 * Reads the log of running code; null if no code runs. If this process has no connection to the sandbox yet, this
 * function also extends the sandbox's life to `lifetimeSeconds` from now on.
 */
export async function readRunningLog(
  connections: Connections,
  { sandbox, link, lifetimeSeconds }: { sandbox: string; link: string; lifetimeSeconds: number },
  signal: AbortSignal,
): Promise<RunningLog | null> {
  try {
    const connected = await connections.get(sandbox, lifetimeSeconds);
    return logIn(await readBytes(connected, pathOf(link), maxBytes, signal));
  } catch (error) {
    if (isGone(error) || isFileMissing(error)) return null;
    connections.forget(sandbox); // The next read of the log asks the control plane for the sandbox.
    throw asRunError(`the log in sandbox ${sandbox} cannot be read`, error);
  }
}

/** Returns the path of the log. The file exists while code of the link runs (store.py). */
function pathOf(link: string): string {
  return `claims/${createHash("sha256").update(link).digest("hex").slice(0, 40)}/log`;
}

function logIn(file: Buffer): RunningLog {
  const end = file.indexOf("\n");
  if (end < 0) throw new MalformedAnswer("a log has no header");
  return { ...parseAnswer(Header, file.toString("utf8", 0, end)), tail: file.subarray(end + 1) };
}
