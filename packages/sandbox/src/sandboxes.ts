import { createHash } from "node:crypto";
import type { Sandbox as E2bSandbox } from "@e2b/code-interpreter";
import {
  atOnce,
  type BlobRef,
  type Claim,
  type CodeResult,
  jsonProblem,
  NovaError,
  type RunIo,
  type RunningLog,
  type RunOptions,
  type RunOutcome,
  type RunRequest,
  referenceKey,
  type Sandbox,
  type Sandboxes,
  type SandboxSpec,
  type StopOutcome,
} from "@nova/engine";
import { z } from "zod";
import { Connections } from "./connections.ts";
import { asRunError, IoFailure, isBeyondPlan, isFileMissing, isGone, MalformedAnswer } from "./failures.ts";
import { followUntilAnswered } from "./follow.ts";
import { libFiles, type SandboxFile } from "./harness.ts";
import {
  CodeAnswer,
  inputReferences,
  type LastAnswer,
  misfit,
  namedBlobs,
  parseAnswer,
  Result,
  runInput,
  stopInput,
} from "./messages.ts";
import { checkBlob, DamagedBlob, readBytes, readStream, WatchedBody, writeFiles } from "./transfer.ts";

interface Reach {
  connections: Connections;
  lookAfterMs: number;
}

/** A sandbox lives this much longer than its code may run. */
const marginSeconds = 60;
/** Maximum age of a sandbox in E2B's smallest plan, Hobby; Pro allows 24 hours. */
const smallestPlanSeconds = 3600;
/** Allows for different clocks and for the time of a call to the control plane. */
const toleranceSeconds = 5;

/**
 * Creates the port to E2B sandboxes. The SDK reads its own variables (`E2B_API_KEY`, `E2B_API_URL`, `E2B_SANDBOX_URL`).
 * `readHarness` is called once, when the first sandbox is created.
 */
export function connectSandboxes(readHarness: () => Promise<SandboxFile>, lookAfterMs = 20_000): Sandboxes {
  const connections = new Connections();
  const reach = { connections, lookAfterMs };
  let harness: Promise<SandboxFile> | undefined;
  const filesFor = async (lib: Record<string, string>) => {
    harness ??= readHarness();
    return [await harness, ...libFiles(lib)];
  };
  const listIds = (metadata: { execution?: string }) =>
    withRunError("sandboxes cannot be listed", () => connections.ids(metadata));
  const kill = (id: string) => withRunError(`sandbox ${id} cannot be killed`, () => connections.kill(id));
  return {
    create: async (spec) => create(connections, spec, await filesFor(spec.lib)),
    run: (sandbox, request, io, runOptions) => run(reach, sandbox, request, io, runOptions),
    stop: (sandbox, claim, io, signal) => stop(reach, sandbox, claim, io, signal),
    runningLog: (sandbox, link, signal) =>
      readRunningLog(connections, { sandbox, link, lifetimeSeconds: marginSeconds }, signal),
    extend: (sandbox, lifetimeSeconds) => extend(connections, sandbox, lifetimeSeconds),
    rest: (sandbox, seconds) => rest(connections, sandbox, seconds),
    kill,
    count: async () => (await listIds({})).length,
    async killAll(execution, except) {
      const ids = await listIds({ execution });
      await Promise.all(ids.filter((id) => !except?.has(id)).map(kill));
    },
  };
}

async function create(connections: Connections, spec: SandboxSpec, files: SandboxFile[]): Promise<Sandbox> {
  const createdAt = Date.now();
  const sandbox = await connections.create(spec).catch((error) => {
    throw asRunError("no sandbox can be had from E2B", explainBeyondPlan(spec, error));
  });
  try {
    await writeFiles(sandbox, files);
  } catch (error) {
    // If the kill fails, the sandbox dies when its lifetime ends.
    await connections.kill(sandbox.sandboxId).catch(() => undefined);
    throw asRunError("a new sandbox took no files", error);
  }
  const endsAt = iso(createdAt + spec.lifetimeSeconds * 1000);
  const { pool } = spec;
  return { id: sandbox.sandboxId, createdAt: iso(createdAt), endsAt, ...(pool !== undefined && { pool }) };
}

/** Explains a refusal of too much lifetime. The error is not retryable, because waiting does not help. */
function explainBeyondPlan({ lifetimeSeconds }: SandboxSpec, error: unknown): unknown {
  if (!isBeyondPlan(error) || !(error instanceof Error) || !/timeout/i.test(error.message)) return error;
  const life = `a sandbox that lives for ${Math.ceil(lifetimeSeconds / 60)} minutes`;
  const wayOut = "lower the node's timeout, or use a plan whose sandboxes live longer";
  return new NovaError("NodeFailed", `E2B refuses ${life} (${error.message}) - ${wayOut}`, { cause: error });
}

async function run(
  { connections, lookAfterMs }: Reach,
  sandbox: string,
  request: RunRequest,
  io: RunIo,
  { first, turnWritten, lifetimeSeconds, signal }: RunOptions,
): Promise<RunOutcome> {
  const ahead = namedBlobs(request);
  const makeInput = (nonce: string) => runInput(request, nonce, ahead);
  const ending = await followUntilAnswered(
    connections,
    { sandbox, lifetimeSeconds, makeInput, signal, lookAfterMs },
    { ownContext: !first, turnWritten, inCell: request.isPlain === true && !connections.isFirstUse(sandbox), io },
    (e2b, answer, now) => settleRun(e2b, answer, request, io, now),
  );
  if (typeof ending === "string") return { kind: ending };
  if (ending.kind === "unable") throw new NovaError("NodeFailed", ending.message);
  return ending;
}

async function settleRun(
  sandbox: E2bSandbox,
  answer: LastAnswer,
  request: RunRequest,
  io: RunIo,
  signal: AbortSignal,
): Promise<Extract<RunOutcome, { kind: "finished" | "tombstoned" }> | { kind: "unable"; message: string }> {
  if (answer.type === "result" || answer.type === "outcome")
    return { kind: "finished", result: await takeResult(sandbox, answer, inputReferences(request), io, signal) };
  if (answer.type === "unable") return { kind: "unable", message: answer.message };
  return { kind: "tombstoned" };
}

async function stop(
  { connections, lookAfterMs }: Reach,
  sandbox: string,
  claim: Claim,
  io: RunIo,
  signal: AbortSignal,
): Promise<StopOutcome> {
  const ending = await followUntilAnswered(
    connections,
    { sandbox, lifetimeSeconds: marginSeconds, makeInput: (nonce) => stopInput(claim, nonce), signal, lookAfterMs },
    { ownContext: true, turnWritten: Promise.resolve(true), inCell: true, io },
    (e2b, answer, now) => settleStop(e2b, answer, io, now),
  );
  if (ending === "gone") return { kind: "gone" };
  if (typeof ending === "string")
    throw new NovaError("SandboxUnavailable", `sandbox ${sandbox} cannot be reached to stop its code`);
  return ending;
}

async function settleStop(
  sandbox: E2bSandbox,
  answer: LastAnswer,
  io: RunIo,
  signal: AbortSignal,
): Promise<StopOutcome> {
  if (answer.type === "result" || answer.type === "outcome")
    return { kind: "finished", result: await takeResult(sandbox, answer, new Set(), io, signal) };
  return { kind: "stopped", logs: answer.type === "stopped" ? answer.logs : "" };
}

/**
 * Extends a sandbox's life. Checks the granted lifetime if E2B may silently grant less. Returns null if the life cannot
 * be extended so far.
 */
async function extend(connections: Connections, sandbox: Sandbox, lifetimeSeconds: number): Promise<Sandbox | null> {
  const neededUntil = Date.now() + lifetimeSeconds * 1000;
  try {
    const connected = await connections.connect(sandbox.id, lifetimeSeconds);
    const ageAtEnd = (neededUntil - Date.parse(sandbox.createdAt)) / 1000;
    if (ageAtEnd < smallestPlanSeconds - toleranceSeconds) {
      const endsAt = iso(neededUntil);
      return endsAt < sandbox.endsAt ? sandbox : { ...sandbox, endsAt };
    }
    const { endAt } = await connected.getInfo();
    return endAt.getTime() + toleranceSeconds * 1000 < neededUntil ? null : { ...sandbox, endsAt: endAt.toISOString() };
  } catch (error) {
    if (isGone(error) || isBeyondPlan(error)) return null;
    throw asRunError("the sandbox's life cannot be extended", error);
  }
}

async function rest(connections: Connections, sandbox: Sandbox, seconds: number): Promise<Sandbox | null> {
  const endsAt = iso(Date.now() + seconds * 1000);
  if (endsAt > sandbox.endsAt) return sandbox;
  try {
    await connections.setTimeout(sandbox.id, seconds);
    return { ...sandbox, endsAt };
  } catch (error) {
    if (isGone(error)) return null;
    throw asRunError("the sandbox's life cannot be shortened", error);
  }
}

async function withRunError<T>(what: string, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    throw asRunError(what, error);
  }
}

function iso(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}

/** Creates the port to E2B sandboxes for processes that run no nodes, create no sandboxes and need no harness. */
export function othersSandboxes(): Sandboxes {
  return connectSandboxes(() => Promise.reject(new TypeError("this function runs no nodes and creates no sandboxes")));
}

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

const count = z.int().nonnegative();
const Header = z.object({ step: count, attempt: count, size: count });
/** Limit of the log's file: the harness keeps a header and the last 64 KB. */
const maxBytes = (64 << 10) + 1024;

/** Reads the log of running code; null if no code runs. The sandbox must live `lifetimeSeconds` from now on. */
async function readRunningLog(
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

/** Path of the log while code of the link runs (store.py). */
function pathOf(link: string): string {
  return `claims/${createHash("sha256").update(link).digest("hex").slice(0, 40)}/log`;
}

function logIn(file: Buffer): RunningLog {
  const end = file.indexOf("\n");
  if (end < 0) throw new MalformedAnswer("a log has no header");
  return { ...parseAnswer(Header, file.toString("utf8", 0, end)), tail: file.subarray(end + 1) };
}
