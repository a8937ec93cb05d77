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
import type { EmitOptions } from "../../../packages/compiler/src/to-state-machine.ts";
import { headOf } from "../../../packages/engine/src/chain/head.ts";
import type { Script } from "./harness.ts";
import { Invariants } from "./invariants.ts";
import type { TaskError } from "./machine.ts";
import type { Run } from "./sandbox-state.ts";
import { atOnce, type Fault, type PendingCall, type Process, settled } from "./scheduler.ts";
import { signerWith } from "./stores.ts";
import { World } from "./world.ts";

export function succeeds(key: string, json: string, more: Partial<Script> = {}): Script {
  return { ...more, result: { status: "success", set: [{ key, json }], delete: [], logs: "", durationMs: 1 } };
}

export function fails(message: string): Script {
  return { result: { status: "error", class: "NodeFailed", message, traceback: "", logs: "", durationMs: 1 } };
}

type HowToStart = Pick<StartRequest, "frozen" | "fresh">;

type Scripts = Script[] | ((request: RunRequest) => Script);

/** JSON text of a key that the code is given. */
export function given({ context }: RunRequest, key: string): string | undefined {
  return context.find((slot) => slot.key === key)?.json;
}

/**
 * An interleaving told call by call on the same world that the random model uses. Nobody acts but those whom the story
 * names, and the code that they begin.
 */
export class Story {
  readonly world = new World(1);
  readonly invariants: Invariants;
  readonly #workflow: Workflow;
  readonly #scripts: Record<string, Scripts>;
  /** Runs of code in the order in which they began. */
  readonly begun: Run[] = [];
  /** Code does not go beyond its call of this name: `finish` has it run on for ever, `claim` keeps it from beginning. */
  codeStopsAt: "claim" | "look for a tombstone" | "finish" | undefined;
  id = "";

  /** `scripts`: what the code of each node does, run after run (the last one stays) or by what it is given. */
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

  /** Link 0, the record and a state machine that waits. */
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

  /** The join of the fork at link `seq`, behind a Catch if there is an error. */
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

  /** Lets a process go on until its next call has this name (or begins with it). */
  async until(process: Process, name: string): Promise<void> {
    for (;;) {
      const next = await this.#next([process]);
      if (!next) throw new Error(`"${process.name}" never comes to "${name}"`);
      if (next.process === process && next.call.name.startsWith(name)) return;
      await this.world.scheduler.perform(next);
    }
  }

  /** Performs the next call of a process, or lets it fail. */
  async perform(process: Process, fault?: Fault): Promise<void> {
    await settled();
    const next = this.world.scheduler.ready().find((pending) => pending.process === process);
    if (!next) throw new Error(`"${process.name}" has no call to perform`);
    await this.world.scheduler.perform(next, fault);
  }

  /** The next call of a process, or of code while it waits for that; false where there is none. */
  async step(process: Process): Promise<boolean> {
    const next = await this.#next([process]);
    if (next) await this.world.scheduler.perform(next);
    return next !== undefined;
  }

  /** Lets these processes go on until they have nothing more to do; answers what the first came to. */
  async finish(...processes: Process[]): Promise<unknown> {
    for (let next = await this.#next(processes); next; next = await this.#next(processes)) {
      await this.world.scheduler.perform(next);
    }
    const [first] = processes;
    return first?.state === "failed" ? (first.error as Error).name : first?.answer;
  }

  /** Lets everything go on to its end. */
  async everything(): Promise<void> {
    await settled();
    for (let [next] = this.world.scheduler.ready(); next; [next] = this.world.scheduler.ready()) {
      await this.world.scheduler.perform(next);
    }
  }

  /** The chain in short: `a success`, `(close) failed`, in order. */
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

  /** Every invariant; what Step Functions did counts only where the story let it act. */
  async judge(): Promise<void> {
    if (this.world.machines.get(this.id)?.visited.length === 0) this.world.machines.delete(this.id);
    await this.invariants.judge();
  }

  verify() {
    return verifyExecution(this.world.ports(atOnce), this.id);
  }

  /** Leaves the note of an erasure, signed with the key of this world, or with another one, or of another execution. */
  async noteErasure({ key = "key", of = this.id } = {}): Promise<void> {
    const signature = await signerWith(key, atOnce).sign(erasureText(of));
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

/** A story is only well told if no invariant broke in it. */
export function wellTold(story: Story): void {
  expect(story.invariants.violations).toEqual([]);
}
