import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Context, Sandbox as E2bSandbox } from "@e2b/code-interpreter";
import { NovaError, type RunIo } from "@nova/engine";
import type { Connections } from "./connections.ts";
import { asRunError, BrokenAttach, IoFailure, isGone, isRefusedKey, MalformedAnswer } from "./failures.ts";
import { cell, cellWith, root } from "./harness.ts";
import { type LastAnswer, lineReader, type Need } from "./messages.ts";
import { WatchedBody, writeStream, writeText } from "./transfer.ts";

const firstPauseMs = 50;
const longestPauseMs = 2_000;
/** A harness that fails this often in a row lacks memory or processes. A later delivery tries again. */
const maxHarnessFailures = 4;

export interface Followed {
  sandbox: string;
  lifetimeSeconds: number;
  makeInput: (nonce: string) => string;
  signal: AbortSignal;
  lookAfterMs: number;
}

type Attaching = Omit<AttachOptions, "signal">;

/** The settled answer, or the reason why there is none. */
export type Ending<T> = T | "gone" | "unfinished" | "refused";

/**
 * Attaches to the sandbox, and attaches again after every broken connection or 502, because the code may still run.
 * Ends when `settle` has handled an answer, when the control plane reports the sandbox as missing, or when the signal
 * aborts.
 */
export async function followUntilAnswered<T>(
  connections: Connections,
  followed: Followed,
  options: Attaching,
  settle: (sandbox: E2bSandbox, answer: LastAnswer, signal: AbortSignal) => Promise<T>,
): Promise<Ending<T>> {
  const { sandbox, signal } = followed;
  const over = new AbortController();
  const listening = { ...followed, signal: AbortSignal.any([signal, over.signal]) };
  const watcher = watch(connections, followed);
  const patience = new Patience();
  try {
    for (let round = 0; !signal.aborted; round++) {
      try {
        return await Promise.race([once(connections, listening, pickContext(options, round), settle), watcher.end]);
      } catch (error) {
        if (isGone(error)) return "gone";
        patience.bear(error);
        connections.forget(sandbox); // The next attach asks the control plane for the sandbox.
        await pause(round, signal);
      }
    }
    return "unfinished";
  } finally {
    watcher.close();
    over.abort(); // Ends the transfers that are still running.
  }
}

/** Resolves `end` when the signal aborts, or when the sandbox is gone although its connection stays open. */
function watch(connections: Connections, { sandbox, signal, lookAfterMs }: Followed) {
  const { promise: end, resolve } = Promise.withResolvers<"gone" | "unfinished">();
  const onAbort = () => resolve("unfinished");
  signal.addEventListener("abort", onAbort);
  const timer = setInterval(async () => {
    if (await connections.isGone(sandbox)) resolve("gone");
  }, lookAfterMs);
  const close = () => {
    signal.removeEventListener("abort", onAbort);
    clearInterval(timer);
  };
  return { end, close };
}

/** Decides which errors a further attach can cure, and throws the others. */
class Patience {
  #harnessFailures = 0;

  bear(error: unknown): void {
    if (error instanceof IoFailure) throw error.cause;
    if (error instanceof MalformedAnswer) throw error;
    if (isRefusedKey(error)) throw asRunError("the sandbox cannot be reached", error);
    this.#harnessFailures = error instanceof HarnessFailure ? this.#harnessFailures + 1 : 0;
    if (this.#harnessFailures < maxHarnessFailures) return;
    const reason = (error as HarnessFailure).message;
    const wayOut = "wait until other sandboxes have ended, or give this machine more resources";
    throw new NovaError("SandboxUnavailable", `the sandbox's harness fails (${reason}) - ${wayOut}`, { cause: error });
  }
}

async function once<T>(
  connections: Connections,
  { sandbox: id, lifetimeSeconds, makeInput, signal }: Followed,
  options: Attaching,
  settle: (sandbox: E2bSandbox, answer: LastAnswer, signal: AbortSignal) => Promise<T>,
): Promise<T | "refused"> {
  const sandbox = await connections.get(id, lifetimeSeconds);
  const answer = await attach(sandbox, makeInput, { ...options, signal });
  if (answer === "refused") return answer;
  if (answer.type === "trouble") throw new HarnessFailure(answer.message);
  return settle(sandbox, answer, signal);
}

/**
 * Uses a new kernel context for every attach after the first, because the default context may still run the cell of the
 * broken attach.
 */
function pickContext(options: Attaching, round: number): Attaching {
  return round === 0 ? options : { ...options, ownContext: true };
}

/** Waits before the next attach: exponentially longer after each attach, with full jitter. */
async function pause(round: number, signal: AbortSignal): Promise<void> {
  const limitMs = Math.min(longestPauseMs, firstPauseMs * 2 ** round);
  // If the signal ends the pause, the caller notices that.
  await sleep(Math.random() * limitMs, undefined, { signal }).catch(() => undefined);
}

interface AttachOptions {
  /**
   * True runs the cell in a new kernel context, which never waits for the cell of another delivery. The default context
   * saves a call.
   */
  ownContext: boolean;
  /** Resolves to true when the turn is written. The cell runs only after that. */
  turnWritten: Promise<boolean>;
  /** True if a small input may be part of the cell. The kernel remembers cells, so the input must hold no secrets. */
  inCell: boolean;
  io: RunIo;
  signal: AbortSignal;
}

/** The cell failed: the harness is missing or broken. */
class HarnessFailure extends Error {
  override name = "HarnessFailure";
}

/**
 * Runs a cell that passes one input to the harness, serves the needs of the code, and returns the last answer. Returns
 * "refused" if `turnWritten` resolves to false.
 */
async function attach(
  sandbox: E2bSandbox,
  makeInput: (nonce: string) => string,
  options: AttachOptions,
): Promise<LastAnswer | "refused"> {
  const { ownContext, turnWritten, signal } = options;
  const [name, nonce] = [randomName(), randomName()];
  const context = ownContext ? sandbox.createCodeContext() : undefined;
  // If this fails, the context ends with the sandbox.
  const leave = () => void context?.then((own) => sandbox.removeCodeContext(own)).catch(() => undefined);
  // Removes the kernel context when the delivery ends. Each context is a process, and code that runs for hours is
  // attached to hundreds of times.
  signal.addEventListener("abort", leave, { once: true });
  const input = inputFor(sandbox, name, makeInput(nonce), options);
  try {
    const [isTurnWritten, , own] = await Promise.all([turnWritten.catch(asIoFailure), input.sent, context]);
    if (isTurnWritten) return await follow(sandbox, input.cell, nonce, own, options);
    await input.remove();
    return "refused";
  } finally {
    signal.removeEventListener("abort", leave);
    leave();
  }
}

interface Input {
  cell: string;
  sent: Promise<void>;
  remove(): Promise<void>;
}

/** An input up to this size is faster in the cell than as an upload. A larger one uploads while the turn is written. */
const maxCharactersInCell = 16 * 1024;

function inputFor(sandbox: E2bSandbox, name: string, text: string, { inCell, signal }: AttachOptions): Input {
  if (inCell && text.length <= maxCharactersInCell) {
    return { cell: cellWith(name, text), sent: Promise.resolve(), remove: async () => undefined };
  }
  return {
    cell: cell(name),
    sent: writeText(sandbox, `inputs/${name}`, text, signal),
    remove: () => sandbox.files.remove(`${root}/inputs/${name}`, { user: "root" }),
  };
}

/** Runs the cell, and resolves with the last answer as soon as it arrives, without waiting for the end of the cell. */
function follow(
  sandbox: E2bSandbox,
  code: string,
  nonce: string,
  context: Context | undefined,
  { io, signal }: AttachOptions,
): Promise<LastAnswer> {
  return new Promise((resolve, reject) => {
    let isAnswered = false;
    const serve = needServer(sandbox, io, signal, reject);
    const read = lineReader(nonce, (answer) => {
      if (answer.type === "need") serve(answer);
      else {
        isAnswered = true;
        resolve(answer);
      }
    });
    // Throws after the end of the attach, because only an error stops the SDK from reading and keeping further output.
    const listen = (text: string) => {
      if (isAnswered || signal.aborted) throw new BrokenAttach("the attach has ended");
      read(text);
    };
    const onText = ({ line }: { line: string }) => attempt(() => listen(line), reject);
    sandbox
      .runCode(code, {
        ...(context && { context }),
        timeoutMs: 0,
        requestTimeoutMs: 0,
        onStdout: onText,
        onStderr: onText,
        onResult: () => attempt(refuseResult, reject),
      })
      .then(({ error }) => {
        if (isAnswered) return;
        if (error) throw new HarnessFailure(`${error.name}: ${error.value}`);
        throw new BrokenAttach("the cell ended without an answer");
      })
      .catch(reject); // A failure after the last answer has no effect.
  });
}

function attempt(action: () => void, reject: (error: unknown) => void): void {
  try {
    action();
  } catch (error) {
    reject(error);
    throw error;
  }
}

function refuseResult(): never {
  throw new MalformedAnswer("its cell has a result");
}

function asIoFailure(error: unknown): never {
  throw new IoFailure(error);
}

function randomName(): string {
  return randomBytes(16).toString("hex");
}

const maxParallel = 6;
/**
 * Limit of needs (requests for values) that wait for an answer. Code itself waits for one at a time; the others are
 * blobs that the harness requests in advance.
 */
const maxWaiting = 1000;

/** Returns a function that serves the needs of an attach, a few in parallel. `fail` receives the error of a need. */
function needServer(
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
