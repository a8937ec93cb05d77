import { randomBytes } from "node:crypto";
import type { Context, Sandbox as E2bSandbox } from "@e2b/code-interpreter";
import type { RunIo } from "@nova/engine";
import { BrokenAttach, IoFailure, MalformedAnswer } from "./failures.ts";
import { cell, cellWith, root } from "./harness.ts";
import { lineReader } from "./lines.ts";
import type { LastAnswer } from "./messages.ts";
import { needServer } from "./needs.ts";
import { writeText } from "./transfer.ts";

export interface AttachOptions {
  /** Its own context never waits for the cell of another delivery; the default one saves a call. */
  ownContext: boolean;
  /** Nothing is executed before it is true. */
  turnWritten: Promise<boolean>;
  /** A small input may be part of the cell, which a kernel remembers: nothing in it is secret. */
  inCell: boolean;
  io: RunIo;
  /** Fires when nobody waits for the answer any more. */
  signal: AbortSignal;
}

/** The cell failed: there is no harness, or it does not work. */
export class HarnessFailure extends Error {
  override name = "HarnessFailure";
}

/** Lets the kernel follow one input, and serves what it needs: one call, or two. "refused": the turnWritten said no. */
export async function attach(
  sandbox: E2bSandbox,
  makeInput: (nonce: string) => string,
  options: AttachOptions,
): Promise<LastAnswer | "refused"> {
  const { ownContext, turnWritten, signal } = options;
  const [name, nonce] = [randomName(), randomName()];
  const context = ownContext ? sandbox.createCodeContext() : undefined;
  const leave = () => void context?.then((own) => sandbox.removeCodeContext(own)).catch(() => undefined); // it dies with the sandbox anyway
  // Code of hours is attached to hundreds of times: each context is a process that follows it.
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

/** An upload goes on while the turn is written; a cell of this size costs less than one. */
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

/** Resolves with the last answer as soon as it is there; the cell's own end is of no interest then. */
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
    // Only an error stops the SDK from reading on, and it keeps all that it reads.
    const listen = (text: string) => {
      if (isAnswered || signal.aborted) throw new BrokenAttach("nobody listens any more");
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
      .catch(reject); // after the last answer nobody listens any more
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
