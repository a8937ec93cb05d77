import {
  type Claim,
  NovaError,
  type RunIo,
  type RunOptions,
  type RunOutcome,
  type RunRequest,
  type Sandbox,
  type Sandboxes,
  type SandboxSpec,
  type StopOutcome,
} from "@nova/engine";
import { Connections } from "./connections.ts";
import { asRunError, isBeyondPlan, isGone } from "./failures.ts";
import { followUntilAnswered } from "./follow.ts";
import { libFiles, type SandboxFile } from "./harness.ts";
import { inputReferences, namedBlobs, runInput, stopInput } from "./messages.ts";
import { readRunningLog, takeResult } from "./results.ts";
import { writeFiles } from "./transfer.ts";

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

/**
 * Explains that E2B's plan refuses the requested lifetime. NOVA does not retry after this error, because waiting does
 * not help.
 */
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
    async (e2b, answer, now) => {
      if (answer.type === "unable") return { kind: "unable" as const, message: answer.message };
      if (answer.type !== "result" && answer.type !== "outcome") return { kind: "tombstoned" as const };
      const result = await takeResult(e2b, answer, inputReferences(request), io, now);
      return { kind: "finished" as const, result };
    },
  );
  if (typeof ending === "string") return { kind: ending };
  if (ending.kind === "unable") throw new NovaError("NodeFailed", ending.message);
  return ending;
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
    async (e2b, answer, now) => {
      if (answer.type === "result" || answer.type === "outcome")
        return { kind: "finished" as const, result: await takeResult(e2b, answer, new Set(), io, now) };
      return { kind: "stopped" as const, logs: answer.type === "stopped" ? answer.logs : "" };
    },
  );
  if (ending === "gone") return { kind: "gone" };
  if (typeof ending === "string")
    throw new NovaError("SandboxUnavailable", `sandbox ${sandbox} cannot be reached to stop its code`);
  return ending;
}

/**
 * Extends a sandbox's life. If E2B may silently grant a shorter life, checks the granted one. Returns null if E2B does
 * not grant the requested lifetime.
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
