import {
  type Budgets,
  createEndings,
  createInFlight,
  createTailCache,
  createWarmPool,
  type Execution,
  executionEnded,
  failExecution,
  hashTree,
  joinFork,
  type Leaf,
  leafBytes,
  type NodeEvent,
  type OnExecutionEnded,
  type Pipeline,
  type Ports,
  type Roots,
  requestApproval,
  runNode,
  type Stamp,
  type StateMachines,
  type StoredRoot,
  StoreUnavailable,
  settleNode,
  TreeDamaged,
  type WorkflowVersion,
} from "@nova/engine";
import type { LeafStore, PendingLeaf, RootStore } from "@nova/service";
import { type Workflow, workflowHash } from "@nova/workflow";
import type { StateMachine } from "../../../packages/compiler/src/asl.ts";
import { type EmitOptions, toMachine } from "../../../packages/compiler/src/compile-workflow.ts";
import type { FollowTime } from "../../../packages/engine/src/attempt/run-attempts.ts";
import { emptyOverlay } from "../../../packages/engine/src/secrets/overlay.ts";
import { MemoryGenerations } from "../memory-generations.ts";
import { ChainState } from "./chain-state.ts";
import { VirtualClock } from "./clock.ts";
import type { Code } from "./harness.ts";
import { type Invocation, type Lambdas, MachineRun, type StartChild, type TaskError } from "./machine.ts";
import { SandboxState } from "./sandbox-state.ts";
import { sandboxesPort } from "./sandboxes.ts";
import { type Caller, type Process, Scheduler } from "./scheduler.ts";
import { BlobState, EventState, ExecutionState, keyPairWith, signerWith, WorkflowState } from "./stores.ts";
import { mirrorVault, TaskState } from "./tasks.ts";
import { Tokens } from "./tokens.ts";

/** A map with more items than this runs each item in its own execution. */
const maxInline = 2;

/** Creates the memory of one Lambda process. */
const memory = () => ({
  warmPool: createWarmPool(),
  tailCache: createTailCache(),
  inFlight: createInFlight(),
  endings: createEndings(),
});

/** Everything around the engine, in memory: stores, sandboxes and Step Functions. */
export class World {
  readonly scheduler = new Scheduler();
  readonly clock = new VirtualClock();
  readonly chain = new ChainState();
  readonly executions = new ExecutionState();
  readonly workflows = new WorkflowState();
  readonly blobs = new BlobState();
  readonly events = new EventState();
  readonly tasks = new TaskState();
  readonly roots = new RootState();
  readonly tokens = new Tokens();
  readonly generations = new MemoryGenerations();
  /** The answers that Step Functions has received, by task token. */
  readonly answered = new Map<string, string>();
  readonly sandboxes = new SandboxState(this.clock);
  readonly machines = new Map<string, MachineRun>();
  readonly #memories: ReturnType<typeof memory>[];
  #served = 0;
  readonly #definitions = new Map<string, StateMachine>();
  code: Code = {
    script: () => ({ result: { status: "success", set: [], delete: [], logs: "", durationMs: 1 } }),
    onBegin: () => undefined,
  };
  /**
   * Returns the signal at which a delivery stops waiting for code that can outlive the delivery. By default the signal
   * never aborts.
   */
  followTime: FollowTime = () => new AbortController().signal;
  /** The pipeline that writes the code of prompt nodes. By default it refuses every call. */
  pipeline: (caller: Caller) => Pipeline = () => refusingPipeline;
  /** The limits on what models may cost each client. By default there are none. */
  budgets: Budgets = { ofMonth: async () => null, note: async () => undefined };
  /** Called after the close of a run. By default it does nothing. */
  onExecutionEnded: (caller: Caller) => OnExecutionEnded = () => async () => undefined;
  lambdas: Lambdas = {
    invoke: (invocation) => [this.deliver(invocation)],
    timer: () => null,
    maxRetries: 2,
  };

  /** `processes` is the number of Lambda processes. Deliveries are spread over them in turn. */
  constructor(processes = 2) {
    this.#memories = Array.from({ length: processes }, memory);
  }

  /** Returns the ports for one caller, with the memory of one of the Lambda processes. */
  ports(caller: Caller): Ports {
    return {
      chain: this.chain.port(caller),
      executions: this.executions.port(caller),
      workflows: this.workflows.port(),
      blobs: this.blobs.port(caller),
      sandboxes: sandboxesPort(this.sandboxes, this.scheduler, () => this.code, caller),
      pipeline: this.pipeline(caller),
      generations: this.generations,
      stateMachines: this.#stateMachines(caller),
      signer: signerWith("key", caller),
      keyPair: keyPairWith("key", caller),
      roots: this.roots.port(caller),
      events: this.events.port(caller),
      onExecutionEnded: this.onExecutionEnded(caller),
      budgets: this.budgets,
      tasks: this.tasks.port(caller),
      wakes: this.tasks.wakes.port(caller),
      vault: mirrorVault,
      credentials: { forNode: async () => emptyOverlay, secretsOf: async () => [], forget: () => undefined },
      hostNames: { addressesOf: async (host) => [`address of ${host}`] },
      links: {
        toTask: ({ id }) => `link to ${id}`,
        toVote: ({ id }, token) => `https://nova.example.com/console/tasks/${id}#vote=${token}`,
        toApi: (path) => `https://nova.example.com${path}`,
        toResume: (id, token) => `https://nova.example.com/tasks/${id}?token=${token}`,
      },
      resumeLinks: this.tasks.links.port(caller),
      clock: this.clock.port(caller),
      timer: this.clock.timer(),
      ...(this.#memories[this.#served++ % this.#memories.length] as ReturnType<typeof memory>),
    };
  }

  /** Compiles a workflow and publishes it with its state machine. */
  publish(workflow: Workflow, version = 1, options: EmitOptions = {}): WorkflowVersion {
    const stateMachineArn = `arn:${workflow.id}:${version}`;
    const { stateMachine, history } = toMachine(workflow, { inlineItems: maxInline, ...options });
    const published: WorkflowVersion = {
      format: 1,
      workflowId: workflow.id,
      version,
      hash: workflowHash(workflow),
      workflow,
      template: "template",
      stateMachineArn,
      ...(history && { history }),
      createdAt: this.clock.iso(),
    };
    this.workflows.versions.push(published);
    this.#definitions.set(stateMachineArn, stateMachine);
    return published;
  }

  spawn(name: string, body: (ports: Ports, process: Process) => Promise<unknown>, weight = 1): Process {
    return this.scheduler.spawn(name, (process) => body(this.ports(process), process), weight);
  }

  /** Delivers a task to its Lambda function once. */
  deliver(
    { function: name, input }: Invocation,
    { label = "", weight = 1, time = new AbortController() } = {},
  ): Process {
    const event = input as unknown as NodeEvent & { error: TaskError };
    switch (name) {
      case "nova-run-node":
        return this.spawn(`run ${event.node}${label}`, (ports) => runNode(ports, event, time.signal, this), weight);
      case "nova-settle-node":
        if ("join" in input)
          return this.spawn(`join ${input.join}${label}`, (ports) => joinFork(ports, input as never), weight);
        return this.spawn(`settle ${event.node}${label}`, (ports) => settleNode(ports, event), weight);
      case "nova-request-approval":
        return this.spawn(`request ${event.node}${label}`, (ports) => requestApproval(ports, input as never), weight);
      case "nova-close-execution":
        return this.spawn(`close${label}`, (ports) => failExecution(ports, event), weight);
      default:
        throw new RangeError(`there is no function ${name}`);
    }
  }

  /** Delivers EventBridge's event about the end of a state machine execution. */
  tellEnded(id: string): Process {
    return this.spawn("status event", (ports) => executionEnded(ports, id));
  }

  record(id: string): Execution {
    return this.executions.records.get(id) as Execution;
  }

  #stateMachines(caller: Caller): StateMachines {
    const outage = () => Object.assign(new Error("Step Functions did not answer"), { name: "ServiceUnavailable" });
    const ask = <T>(name: string, effect: () => T) => caller.call({ name, effect, outage });
    return {
      publish: async (name) => `arn:${name}`,
      start: (arn, name, input) => ask("StartExecution", () => this.#start(arn, name, input)),
      stop: (_arn, name, error, cause) =>
        ask("StopExecution", () => this.machines.get(name)?.end("aborted", { Error: error, Cause: cause })),
      answerTask: (token, output) => ask("SendTaskSuccess", () => this.#answer(token, output)),
      running: () =>
        ask(
          "ListExecutions",
          () => new Set(this.machines.keys().filter((name) => this.machines.get(name)?.status === "running")),
        ),
      describe: (_arn, name) =>
        ask("DescribeExecution", () => {
          const run = this.machines.get(name);
          if (!run) return null;
          return { status: run.status, ...(run.error && { error: run.error.Error, cause: run.error.Cause }) };
        }),
      page: (_arn, name) => `page of ${name}`,
    };
  }

  #answer(token: string, output: string): boolean {
    if (this.answered.has(token)) return false;
    this.answered.set(token, output);
    this.tokens.answer(token, JSON.parse(output));
    return true;
  }

  /**
   * Starts a child execution. If an execution already has this name, the start succeeds and changes nothing while that
   * execution runs with the same input. Otherwise the start fails.
   */
  readonly startChild: StartChild = (arn, name, input) => {
    const there = this.machines.get(name);
    if (there && (there.status !== "running" || there.input !== input))
      return { Error: "StepFunctions.ExecutionAlreadyExistsException", Cause: name };
    this.#start(arn, name, input);
    return this.machines.get(name) as MachineRun;
  };

  #start(arn: string, name: string, input: string): void {
    const there = this.machines.get(name);
    if (there && there.input !== input) throw new RangeError("ExecutionAlreadyExists");
    const definition = this.#definitions.get(arn);
    if (!definition) throw new RangeError(`StateMachineDoesNotExist: ${arn}`);
    if (!there) this.machines.set(name, new MachineRun(definition, input, this));
  }
}

/** The pipeline for tests without prompt nodes. Every call to it fails. */
const refusingPipeline: Pipeline = {
  pinned: refuse("for pinned code"),
  generation: refuse("for a generation"),
  run: refuse("to run"),
  answer: refuse("to answer"),
  converse: refuse("to converse"),
};

function refuse(what: string) {
  return async (): Promise<never> => {
    throw new RangeError(`the pipeline was asked ${what}, and no node has a prompt`);
  };
}

/**
 * Merkle roots, their leaves, stamps and pending leaves in memory, with the same conditions on writes as in DynamoDB
 * and S3.
 */
class RootState {
  readonly pending = new Map<string, PendingLeaf>();
  readonly roots = new Map<number, StoredRoot>();
  readonly trees = new Map<string, readonly Leaf[]>();
  readonly stamps = new Map<number, Stamp>();

  port(caller: Caller): Roots {
    return {
      read: (number) => caller.call({ name: `root ${number}`, effect: () => this.roots.get(number), outage }),
      stamp: (number) => caller.call({ name: `stamp of ${number}`, effect: () => this.stamps.get(number), outage }),
      leaves: ({ number, size, tree }) =>
        caller.call({
          name: `leaves of ${number}`,
          outage,
          effect: () => {
            const leaves = this.trees.get(tree) ?? [];
            if (leaves.length === size && hashTree(leaves.map(leafBytes)).toString("hex") === tree) return leaves;
            throw new TreeDamaged(`the leaves of tree ${number} are others`);
          },
        }),
    };
  }

  leaves(caller: Caller): LeafStore {
    return {
      put: (leaf) =>
        caller.call({
          name: `leaf of ${leaf.execution}`,
          outage,
          effect: () => void this.pending.set(keyOf(leaf), Object.freeze({ ...leaf })),
        }),
    };
  }

  store(caller: Caller): RootStore {
    const put = (name: string, effect: () => boolean) => caller.call({ name, effect, outage, repeats: true });
    return {
      pending: (limit) =>
        caller.call({ name: "pending", effect: () => [...this.pending.values()].slice(0, limit), outage }),
      removePending: (leaves) =>
        caller.call({
          name: `remove ${leaves.length} pending`,
          outage,
          effect: () => {
            for (const leaf of leaves) this.pending.delete(keyOf(leaf));
          },
        }),
      createTree: ({ number, tree }, leaves) =>
        caller.call({ name: `tree ${number}`, effect: () => void this.trees.set(tree, [...leaves]), outage }),
      create: (root) => put(`create root ${root.number}`, () => putNew(this.roots, root)),
      createStamp: (stamp) => put(`create stamp ${stamp.number}`, () => putNew(this.stamps, stamp)),
      list: (range) => caller.call({ name: "roots", effect: () => falling(this.roots, range), outage }),
      stamps: (range) => caller.call({ name: "stamps", effect: () => falling(this.stamps, range), outage }),
    };
  }
}

const outage = () => new StoreUnavailable("DynamoDB does not answer");

function keyOf({ closedAt, execution }: PendingLeaf): string {
  return `${closedAt}#${execution}`;
}

function putNew<T extends { number: number }>(stored: Map<number, T>, item: T): boolean {
  if (stored.has(item.number)) return false;
  stored.set(item.number, Object.freeze({ ...item }));
  return true;
}

function falling<T extends { number: number }>(
  stored: Map<number, T>,
  { limit, after = "9999999999" }: Parameters<RootStore["list"]>[0],
): T[] {
  const before = [...stored.values()].filter(({ number }) => number < Number(after));
  return before.sort((a, b) => b.number - a.number).slice(0, limit);
}
