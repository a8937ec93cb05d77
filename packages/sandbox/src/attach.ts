import { randomBytes } from "node:crypto";
import type { Context, Sandbox as E2bSandbox } from "@e2b/code-interpreter";
import type { RunIo } from "@nova/engine";
import { IoFailure } from "./failures.ts";
import { cell, cellWith, root } from "./harness.ts";
import { Answer, type LastAnswer } from "./messages.ts";
import { serveNeed } from "./needs.ts";
import { writeText } from "./transfer.ts";

export interface AttachOptions {
  /** Its own context never waits for the cell of another delivery; the default one saves a call. */
  ownContext: boolean;
  /** Nothing is executed before it is true. */
  permit: Promise<boolean>;
  /** A small input may be part of the cell, which a kernel remembers: nothing in it is secret. */
  inCell: boolean;
  io: RunIo;
  /** Fires when nobody waits for the answer any more. */
  signal: AbortSignal;
}

/** The cell ended, and did not say what became of the code. */
export class BrokenAttach extends Error {
  override name = "BrokenAttach";
}

/** The cell failed: there is no harness, or it does not work. */
export class HarnessFailure extends Error {
  override name = "HarnessFailure";
}

/** Lets the kernel follow one input, and serves what it needs: one call, or two. "refused": the permit said no. */
export async function attach(
  sandbox: E2bSandbox,
  makeInput: (nonce: string) => string,
  { ownContext, permit, inCell, io, signal }: AttachOptions,
): Promise<LastAnswer | "refused"> {
  const [name, nonce] = [randomName(), randomName()];
  const context = ownContext ? sandbox.createCodeContext() : undefined;
  const leave = () => void context?.then((own) => sandbox.removeCodeContext(own)).catch(() => undefined); // it dies with the sandbox anyway
  // Code of hours is attached to hundreds of times: each context is a process that follows it.
  signal.addEventListener("abort", leave, { once: true });
  const input = inputFor(sandbox, name, makeInput(nonce), inCell);
  try {
    const [isPermitted, , own] = await Promise.all([permit.catch(asIoFailure), input.sent, context]);
    if (isPermitted) return await follow(sandbox, input.cell, nonce, own, io);
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
const mostCharactersInCell = 16 * 1024;

function inputFor(sandbox: E2bSandbox, name: string, text: string, inCell: boolean): Input {
  if (inCell && text.length <= mostCharactersInCell) {
    return { cell: cellWith(name, text), sent: Promise.resolve(), remove: async () => undefined };
  }
  return {
    cell: cell(name),
    sent: writeText(sandbox, `inputs/${name}`, text),
    remove: () => sandbox.files.remove(`${root}/inputs/${name}`, { user: "root" }),
  };
}

/** Resolves with the last answer as soon as it is there; the cell's own end is of no interest then. */
function follow(
  sandbox: E2bSandbox,
  code: string,
  nonce: string,
  context: Context | undefined,
  io: RunIo,
): Promise<LastAnswer> {
  return new Promise((resolve, reject) => {
    let isAnswered = false;
    const onStdout = lineReader(nonce, (answer) => {
      if (answer.type === "need") serveNeed(sandbox, answer, io).catch(reject);
      else {
        isAnswered = true;
        resolve(answer);
      }
    });
    sandbox
      .runCode(code, {
        ...(context && { context }),
        timeoutMs: 0,
        requestTimeoutMs: 0,
        onStdout: ({ line }) => attempt(() => onStdout(line), reject),
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
  }
}

/** Chunks of stdout end anywhere; only lines that start with the nonce are the harness's. */
export function lineReader(nonce: string, take: (answer: Answer) => void): (chunk: string) => void {
  let rest = "";
  return (chunk) => {
    rest += chunk;
    const lines = rest.split("\n");
    rest = lines.pop() as string;
    for (const line of lines)
      if (line.startsWith(`${nonce} `)) take(Answer.parse(JSON.parse(line.slice(nonce.length + 1))));
  };
}

function asIoFailure(error: unknown): never {
  throw new IoFailure(error);
}

function randomName(): string {
  return randomBytes(16).toString("hex");
}
