import { randomBytes } from "node:crypto";
import type { Context, Sandbox as E2bSandbox } from "@e2b/code-interpreter";
import type { RunIo } from "@nova/engine";
import { IoFailure } from "./failures.ts";
import { cell, root } from "./harness.ts";
import { Answer, type LastAnswer } from "./messages.ts";
import { serveNeed } from "./needs.ts";
import { writeText } from "./transfer.ts";

export interface AttachOptions {
  /** Its own context never waits for the cell of another delivery; the default one saves a call. */
  ownContext: boolean;
  /** Nothing is executed before it is true. */
  permit: Promise<boolean>;
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

/** Uploads one input, lets the kernel follow it, serves what it needs: two calls. "refused": the permit said no. */
export async function attach(
  sandbox: E2bSandbox,
  makeInput: (nonce: string) => string,
  { ownContext, permit, io, signal }: AttachOptions,
): Promise<LastAnswer | "refused"> {
  const [name, nonce] = [randomName(), randomName()];
  const context = ownContext ? sandbox.createCodeContext() : undefined;
  const leave = () => void context?.then((own) => sandbox.removeCodeContext(own)).catch(() => undefined); // it dies with the sandbox anyway
  // Code of hours is attached to hundreds of times: each context is a process that follows it.
  signal.addEventListener("abort", leave, { once: true });
  const upload = writeText(sandbox, `inputs/${name}`, makeInput(nonce));
  try {
    const [isPermitted, , own] = await Promise.all([permit.catch(asIoFailure), upload, context]);
    if (!isPermitted) {
      await sandbox.files.remove(`${root}/inputs/${name}`, { user: "root" });
      return "refused";
    }
    return await follow(sandbox, name, nonce, own, io);
  } finally {
    signal.removeEventListener("abort", leave);
    leave();
  }
}

/** Resolves with the last answer as soon as it is there; the cell's own end is of no interest then. */
function follow(
  sandbox: E2bSandbox,
  name: string,
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
      .runCode(cell(name), {
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
