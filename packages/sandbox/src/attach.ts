import { randomBytes } from "node:crypto";
import type { Context, Sandbox as E2bSandbox } from "@e2b/code-interpreter";
import type { RunIo } from "@nova/engine";
import { BrokenAttach, IoFailure, MalformedAnswer } from "./failures.ts";
import { cell, cellWith, root } from "./harness.ts";
import { type LastAnswer, lineReader, type Need } from "./messages.ts";
import { WatchedBody, writeStream, writeText } from "./transfer.ts";

export interface AttachOptions {
  /**
   * If true, the cell runs in a new kernel context, which never waits for the cell of another delivery. If false, it
   * runs in the default context, which saves a call.
   */
  ownContext: boolean;
  /** Resolves to true when the turn is written to the chain. The cell runs only after that. */
  turnWritten: Promise<boolean>;
  /** True if a small input may be part of the cell. The kernel remembers cells, so the input must hold no secrets. */
  inCell: boolean;
  io: RunIo;
  signal: AbortSignal;
}

/** Thrown if the cell failed, because the harness is missing or broken. */
export class HarnessFailure extends Error {
  override name = "HarnessFailure";
}

/**
 * Runs a cell that passes one input to the harness, serves the needs of the code, and returns the last answer. Returns
 * "refused" if `turnWritten` resolves to false.
 */
export async function attach(
  sandbox: E2bSandbox,
  makeInput: (nonce: string) => string,
  options: AttachOptions,
): Promise<LastAnswer | "refused"> {
  const { ownContext, turnWritten, signal } = options;
  const [name, nonce] = [randomName(), randomName()];
  const context = ownContext ? sandbox.createCodeContext() : undefined;
  // If the removal fails, the context ends together with the sandbox.
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
function needServer(sandbox: E2bSandbox, io: RunIo, signal: AbortSignal, fail: (error: unknown) => void) {
  const waiting: Need[] = [];
  let workers = 0;
  const work = async () => {
    workers++;
    for (let need = waiting.shift(); need && !signal.aborted; need = waiting.shift())
      await serveNeed(sandbox, need, io, signal);
    workers--;
  };
  return (need: Need) => {
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

/** Returns true for the engine's refusal of a blob that was erased or does not belong to the node. */
function isRefusal(error: unknown): error is Error {
  return error instanceof Error && (error.name === "BlobMissing" || error.name === "NodeFailed");
}
