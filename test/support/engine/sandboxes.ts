import {
  type Claim,
  NovaError,
  type RunIo,
  type RunOptions,
  type RunOutcome,
  type RunRequest,
  type Sandbox,
  type Sandboxes,
  type StopOutcome,
} from "@nova/engine";
import { type Code, type Execution, runHarness } from "./harness.ts";
import { claimName, type Run, type SandboxState } from "./sandbox-state.ts";
import type { Call, Caller, Scheduler } from "./scheduler.ts";

/** Thrown if a connection to a sandbox broke, or a gateway answered 502. The call may have taken effect. */
class ConnectionLost extends Error {
  override name = "ConnectionLost";
}

const unavailable = () => new NovaError("SandboxUnavailable", "E2B cannot be reached");
const malformed = () => new NovaError("NodeFailed", "the sandbox does not speak as its harness does");
const lost = () => new ConnectionLost("502");

/** The number of broken connections after which a delivery gives up. The next delivery continues with the same code. */
const maxReconnects = 2;

/**
 * Returns the port to the sandboxes in `state` for one caller. Code in the sandboxes runs as processes of the
 * scheduler.
 */
export function sandboxesPort(state: SandboxState, scheduler: Scheduler, code: () => Code, caller: Caller): Sandboxes {
  const control = <T>(name: string, effect: () => T) => caller.call({ name, effect, outage: unavailable });
  return {
    create: (spec) =>
      control("create sandbox", () => ({
        ...state.create(spec.execution, spec.scope, spec.lifetimeSeconds),
        ...(spec.pool !== undefined && { pool: spec.pool }),
      })),
    extend: (sandbox, seconds) =>
      control(`extend ${sandbox.id}`, () => withEnd(sandbox, state.extend(sandbox.id, seconds)?.endsAt ?? null)),
    rest: (sandbox, seconds) => control(`rest ${sandbox.id}`, () => withEnd(sandbox, state.rest(sandbox.id, seconds))),
    kill: (id) => control(`kill ${id}`, () => state.kill(id)),
    count: () => control("count sandboxes", () => state.alive().length),
    killAll: (execution, except) => control("kill all sandboxes", () => state.killAll(execution, except)),
    run: (id, request, io, options) => new Delivery(state, scheduler, code, caller).run(id, request, io, options),
    runningLog: (id, link) => control("read a log", () => (state.isAlive(id) ? (state.logs.get(link) ?? null) : null)),
    stop: (id, claim, io) => stop(state, control, id, claim, io),
  };
}

function withEnd(sandbox: Sandbox, endsAt: string | null): Sandbox | null {
  return endsAt === null ? null : { ...sandbox, endsAt };
}

class Delivery {
  readonly #state: SandboxState;
  readonly #scheduler: Scheduler;
  readonly #code: () => Code;
  readonly #caller: Caller;

  constructor(state: SandboxState, scheduler: Scheduler, code: () => Code, caller: Caller) {
    this.#state = state;
    this.#scheduler = scheduler;
    this.#code = code;
    this.#caller = caller;
  }

  async run(
    id: string,
    request: RunRequest,
    io: RunIo,
    { first, turnWritten, signal }: RunOptions,
  ): Promise<RunOutcome> {
    // The delivery uploads the input and writes its turn at the same time. So it may find that the sandbox has died
    // before the turn is written.
    const uploaded = await this.#ask("upload", () => this.#state.isAlive(id));
    if (uploaded === false) return { kind: "gone" };
    if (!(await turnWritten)) return { kind: "refused" };
    for (let connections = 0; connections <= maxReconnects; connections++) {
      const outcome = await this.#connect(id, request, io, signal, first && connections === 0);
      if (outcome !== "lost") return outcome;
    }
    return { kind: "unfinished" };
  }

  async #connect(
    id: string,
    request: RunRequest,
    io: RunIo,
    signal: AbortSignal,
    first: boolean,
  ): Promise<RunOutcome | "lost"> {
    const execution = await this.#ask("execute", () => this.#execute(id, request, first));
    if (execution === "lost") return "lost";
    for (;;) {
      const seen = await this.#ask("wait", () => this.#look(id, request, execution, signal), {
        ready: () => this.#look(id, request, execution, signal) !== undefined,
      });
      if (seen === "lost" || seen === undefined) return "lost";
      if (!("need" in seen)) return "run" in seen ? this.#collect(seen.run, io) : seen;
      if (seen.need.need) for await (const _ of await io.openBlob(seen.need.need));
      await this.#ask("serve", () => {
        seen.need.need = undefined;
      });
    }
  }

  #execute(id: string, request: RunRequest, first: boolean): Execution {
    const execution: Execution = { state: "starting" };
    if (!this.#state.isAlive(id)) return execution;
    const box = this.#state.box(id);
    const name = claimName(request.claim);
    if (first && box.defaultContexts.has(name))
      throw new RangeError(`two deliveries of ${name} believe to be the first`);
    if (first) box.defaultContexts.add(name);
    const body = (process: Parameters<typeof runHarness>[0]) =>
      runHarness(process, box, request, execution, this.#code());
    box.processes.push(this.#scheduler.spawn(`code ${name} in ${id}`, body, this.#code().weight?.() ?? 1));
    return execution;
  }

  /**
   * Returns what the sandbox reports about the code of this delivery: an outcome, the finished run, or the run that
   * waits for a blob. Returns undefined while the code runs.
   */
  #look(
    id: string,
    { claim }: RunRequest,
    execution: Execution,
    signal: AbortSignal,
  ): RunOutcome | { need: Run } | { run: Run } | undefined {
    if (signal.aborted) return { kind: "unfinished" };
    if (!this.#state.isAlive(id)) return { kind: "gone" };
    const run = this.#state.box(id).runs.get(claimName(claim));
    if (execution.state === "tombstoned" || run?.state === "dead") return { kind: "tombstoned" };
    if (execution.state === "starting" || !run) return undefined;
    if (run.state === "finished" || run.isMalformed) return { run };
    return run.need ? { need: run } : undefined;
  }

  /** Fetches the result. Large results are copied first, because they exist only while the sandbox lives. */
  async #collect(run: Run, io: RunIo): Promise<RunOutcome | "lost"> {
    if (run.isMalformed) throw malformed();
    for (const { ref, body } of run.files) await io.storeBlob(ref, bytesOf(body));
    const alive = await this.#ask("fetch the result", () => this.#state.isAlive(run.box.id));
    if (alive === "lost") return "lost";
    return alive && run.result ? { kind: "finished", result: run.result } : { kind: "gone" };
  }

  async #ask<T>(name: string, effect: () => T, more: Partial<Call<T>> = {}): Promise<T | "lost"> {
    try {
      return await this.#caller.call({ name, effect, outage: lost, ...more });
    } catch (error) {
      if (error instanceof ConnectionLost) return "lost";
      throw error;
    }
  }
}

async function stop(
  state: SandboxState,
  control: <T>(name: string, effect: () => T) => Promise<T>,
  id: string,
  claim: Claim,
  io: RunIo,
): Promise<StopOutcome> {
  const box = state.box(id);
  const ask = <T>(name: string, effect: () => T) => control(name, () => (state.isAlive(id) ? effect() : null));
  const kept = await ask("look for a result", () => box.runs.get(claimName(claim)) ?? "none");
  if (kept === null) return { kind: "gone" };
  if (kept !== "none" && kept.isMalformed) throw malformed();
  if (kept !== "none" && kept.result) {
    for (const { ref, body } of kept.files) await io.storeBlob(ref, bytesOf(body));
    return { kind: "finished", result: kept.result };
  }
  await ask("make a tombstone", () => box.tombstones.add(claim.link));
  const killed = await ask("kill the link's runs", () => {
    for (const run of box.runs.values()) {
      if (run.claim.link === claim.link && run.state !== "finished") run.state = "dead";
    }
    return "killed" as const;
  });
  return killed === null ? { kind: "gone" } : { kind: "stopped", logs: "printed until it was stopped\n" };
}

async function* bytesOf(body: Uint8Array): AsyncIterable<Uint8Array> {
  yield body;
}
