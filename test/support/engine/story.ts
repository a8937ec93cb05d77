import {
  cancelExecution,
  erasureText,
  type RunRequest,
  type StartRequest,
  type StoredEntry,
  startExecution,
  sweep,
  verifyExecution,
} from "@nova/engine";
import type { Workflow } from "@nova/workflow";
import { expect } from "vitest";
import type { EmitOptions } from "../../../packages/compiler/src/compile-workflow.ts";
import { headOf } from "../../../packages/engine/src/chain/entry.ts";
import type { Script } from "./harness.ts";
import { Invariants } from "./invariants.ts";
import type { TaskError } from "./machine.ts";
import type { Run } from "./sandbox-state.ts";
import { atOnce, type Fault, type PendingCall, type Process, settled } from "./scheduler.ts";
import { keyPairWith } from "./stores.ts";
import { World } from "./world.ts";

export function succeeds(key: string, json: string, more: Partial<Script> = {}): Script {
  return { ...more, result: { status: "success", set: [{ key, json }], delete: [], logs: "", durationMs: 1 } };
}

export function fails(message: string): Script {
  return { result: { status: "error", class: "NodeFailed", message, traceback: "", logs: "", durationMs: 1 } };
}

type HowToStart = Pick<StartRequest, "frozen" | "fresh">;

type Scripts = Script[] | ((request: RunRequest) => Script);

/** Returns the JSON text of a key in the context that the code received. */
export function given({ context }: RunRequest, key: string): string | undefined {
  return context.find((slot) => slot.key === key)?.json;
}

/**
 * A run of the engine for a test. The test chooses the order of the calls and performs them one by one. The world is
 * the same as in the random simulation (simulate.ts). Only processes that the test picks, and the code that they start,
 * can act.
 */
export class Story {
  readonly world = new World(1);
  readonly invariants: Invariants;
  readonly #workflow: Workflow;
  readonly #scripts: Record<string, Scripts>;
  /** Runs of code, in the order in which they started. */
  readonly begun: Run[] = [];
  /** The call before which all code stops: before `claim`, code never starts, and before `finish`, code never ends. */
  codeStopsAt: "claim" | "look for a tombstone" | "finish" | undefined;
  id = "";

  /**
   * `scripts` has the behaviour of each node's code. It is a function of the request, or a list with one item for each
   * run of the code. The last item repeats.
   */
  constructor(workflow: Workflow, scripts: Record<string, Scripts> = {}) {
    this.#workflow = workflow;
    this.#scripts = scripts;
    this.invariants = new Invariants(this.world);
    this.world.code = {
      script: (request) => this.#script(request),
      onBegin: (run) => {
        this.begun.push(run);
        this.invariants.onBegin(run);
      },
    };
  }

  /** Starts a run: writes entry 0 and the record. The state machine of the run waits until the test lets it act. */
  async start(context = "{}", { frozen, fresh, ...options }: EmitOptions & HowToStart = {}): Promise<this> {
    const version = this.world.publish(this.#workflow, 1, options);
    const how = { ...(frozen && { frozen }), ...(fresh && { fresh }) };
    const started = await startExecution(this.world.ports(atOnce), { version, context, ...how });
    this.id = started.id;
    return this;
  }

  deliver(node: string, seq: number, { time = new AbortController(), scope = "" } = {}): Process {
    return this.world.deliver({ function: "nova-run-node", input: { ...this.#position(seq, scope), node } }, { time });
  }

  settle(node: string, seq: number, { error = { Error: "States.Timeout", Cause: "" }, scope = "" } = {}): Process {
    return this.world.deliver({ function: "nova-settle-node", input: { ...this.#position(seq, scope), node, error } });
  }

  /**
   * Delivers the task that joins the fork at entry `seq`. With `error`, a branch has failed and a Catch leads to this
   * task.
   */
  join(fork: string, seq: number, { error, scope = "" }: { error?: TaskError; scope?: string } = {}): Process {
    const at = { ...this.#position(seq, scope), ...(error && { error }) };
    return this.world.deliver({ function: "nova-settle-node", input: { join: fork, at } });
  }

  close(seq: number, error = { Error: "States.Timeout", Cause: "" }): Process {
    return this.world.deliver({ function: "nova-close-execution", input: { ...this.#position(seq), error } });
  }

  cancel(): Process {
    return this.world.spawn("cancel", (ports) => cancelExecution(ports, this.id));
  }

  sweeper(): Process {
    return this.world.spawn("sweeper", (ports) => sweep(ports));
  }

  /** Lets a process make calls until the name of its next call starts with `name`. */
  async until(process: Process, name: string): Promise<void> {
    for (;;) {
      const next = await this.#next([process]);
      if (!next) throw new Error(`"${process.name}" never comes to "${name}"`);
      if (next.process === process && next.call.name.startsWith(name)) return;
      await this.world.scheduler.perform(next);
    }
  }

  /** Performs the next call of a process, with `fault` if that is set. */
  async perform(process: Process, fault?: Fault): Promise<void> {
    await settled();
    const next = this.world.scheduler.ready().find((pending) => pending.process === process);
    if (!next) throw new Error(`"${process.name}" has no call to perform`);
    await this.world.scheduler.perform(next, fault);
  }

  /** Performs the next call of a process, or of the code that it waits for; returns false if there is none. */
  async step(process: Process): Promise<boolean> {
    const next = await this.#next([process]);
    if (next) await this.world.scheduler.perform(next);
    return next !== undefined;
  }

  /** Lets these processes make calls until they end. Returns the result of the first one. */
  async finish(...processes: Process[]): Promise<unknown> {
    for (let next = await this.#next(processes); next; next = await this.#next(processes)) {
      await this.world.scheduler.perform(next);
    }
    const [first] = processes;
    return first?.state === "failed" ? (first.error as Error).name : first?.answer;
  }

  /** Lets all processes make calls until they end. */
  async everything(): Promise<void> {
    await settled();
    for (let [next] = this.world.scheduler.ready(); next; [next] = this.world.scheduler.ready()) {
      await this.world.scheduler.perform(next);
    }
  }

  /** The entries of the main line, each as node and status, such as `a success` or `(close) failed`. */
  get chain(): string[] {
    return this.chainOf("");
  }

  chainOf(scope: string): string[] {
    return this.entriesOf(scope).map((entry) => {
      const { node_id, status, close } = headOf(entry);
      return `${node_id} ${close?.status ?? status}`;
    });
  }

  entriesOf(scope: string): StoredEntry[] {
    return this.world.chain.linksOf(this.id, scope).flatMap(({ entry }) => (entry ? [entry] : []));
  }

  /**
   * Checks every invariant. If Step Functions has not acted in the test, leaves out the invariants about Step
   * Functions.
   */
  async judge(): Promise<void> {
    if (this.world.machines.get(this.id)?.visited.length === 0) this.world.machines.delete(this.id);
    await this.invariants.judge();
  }

  verify() {
    return verifyExecution(this.world.ports(atOnce), this.id);
  }

  /**
   * Stores the signed note that an erasure leaves on the chain. To forge the note, a test passes another signing key as
   * `key`, or the id of another execution as `of`.
   */
  async noteErasure({ key = "key", of = this.id } = {}): Promise<void> {
    const signature = await keyPairWith(key, atOnce).sign(erasureText(of));
    this.world.chain.notes.set(this.id, [{ kind: "erased", signature }]);
  }

  #position(seq: number, scope = "") {
    const { version } = this.world.record(this.id);
    return { execution: { id: this.id, workflowId: this.#workflow.id, version }, scope, seq };
  }

  async #next(processes: Process[]): Promise<PendingCall | undefined> {
    await settled();
    const ready = this.world.scheduler.ready();
    const isCode = ({ process, call }: PendingCall) =>
      process.name.startsWith("code ") && call.name !== this.codeStopsAt;
    return ready.find(({ process }) => processes.includes(process)) ?? ready.find(isCode);
  }

  #script(request: RunRequest): Script {
    const { node } = request;
    const scripts = this.#scripts[node] ?? [];
    if (typeof scripts === "function") return scripts(request);
    const script = scripts.length > 1 ? scripts.shift() : scripts[0];
    return script ?? succeeds(node, "true");
  }
}

/** Expects that no invariant was broken in the story. */
export function wellTold(story: Story): void {
  expect(story.invariants.violations).toEqual([]);
}
