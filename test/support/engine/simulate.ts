import {
  callKey,
  type Execution,
  type Member,
  objectText,
  type Ports,
  planRestart,
  type RunRequest,
  restartExecution,
  Source,
  startExecution,
  sweep,
  type WorkflowVersion,
} from "@nova/engine";
import { nodeIndex, type Workflow } from "@nova/workflow";
import { referenceUnchanged } from "../../../packages/engine/src/restart/reuse.ts";
import { Authors } from "./authors.ts";
import { calledFlows, childFlows } from "./child-flows.ts";
import { straightFlows } from "./flows.ts";
import { forkFlows, mapFlows } from "./fork-flows.ts";
import { type Script, textRef } from "./harness.ts";
import { Invariants, placesIn } from "./invariants.ts";
import { longFlows, loopFlows } from "./loop-flows.ts";
import type { Invocation } from "./machine.ts";
import { harsh, meddlers, type Temper, temperOf, weights } from "./meddlers.ts";
import { otherFlow } from "./other-version.ts";
import { sendApprovers } from "./people.ts";
import { promptFlows } from "./prompt-flows.ts";
import { Random } from "./random.ts";
import { atOnce, type Fault, type PendingCall, type Process, settled } from "./scheduler.ts";
import { randomMinds } from "./scripted-minds.ts";
import { waitingFlows } from "./waiting-flows.ts";
import { World } from "./world.ts";
import { writeOutcome } from "./write-outcome.ts";

/** The result of one simulation: the flow, the calls in order, and every invariant that was broken. */
export interface Simulation {
  flow: string;
  story: string[];
  violations: string[];
  world: World;
}

/**
 * Runs the real engine on a random flow, with calls in random order and random faults. The same seed gives the same
 * simulation.
 */
export async function simulate(seed: number, family?: readonly Workflow[]): Promise<Simulation> {
  return new Model(new Random(seed), family).run();
}

const maxSweeps = 12;
/** The number of calls in a long run. Each actor of meddlers.ts acts at a random call below this number. */
const longRun = 100;
/** A text so large that the start stores it as a blob. */
const letter = "dear all ".repeat(500);
/** Lists over which maps run. The inner lists are for maps inside these maps. */
const lists = [[], [[1, 2]], [[1, 2], [], [3]], [[1], [2], [3], [4]]];

/** Options for the compiler: the number of history events after which a loop continues in another execution. */
const histories = [0, 0, 20, 40].map((historyEvents) => ({ historyEvents }));

/**
 * The groups from which the simulation picks a workflow. Loop flows are listed twice, because half of their runs end
 * before an edge leads back.
 */
const families = [
  straightFlows,
  forkFlows,
  mapFlows,
  waitingFlows,
  loopFlows,
  loopFlows,
  longFlows,
  childFlows,
  promptFlows,
];

function isRepeatable(workflow: Workflow): boolean {
  return Array.from(nodeIndex(workflow).values()).some(
    ({ node }) => "executor" in node && (node.effects === false || node.retry),
  );
}

class Model {
  readonly #random: Random;
  readonly #world = new World();
  readonly #workflow: Workflow;
  readonly #invariants: Invariants;
  readonly #temper: Temper;
  /** How often each person acts. */
  readonly #rounds: number;
  #faultsLeft: number;
  #picks = 0;
  /** For each stalled process, the number of picks after which the process continues. */
  readonly #stalled = new Map<Process, number>();

  constructor(random: Random, voting?: readonly Workflow[]) {
    this.#random = random;
    this.#rounds = voting ? 4 : 1;
    const isHarsh = random.chance(0.33);
    const family = voting ?? random.pick(families);
    const repeatable = family.filter(isRepeatable);
    this.#workflow = random.pick(isHarsh ? repeatable : family);
    this.#temper = isHarsh ? harsh : temperOf(random);
    this.#faultsLeft = this.#temper.faults;
    this.#invariants = new Invariants(this.#world);
    this.#world.lambdas = {
      invoke: (invocation) => this.#invoke(invocation),
      timer: (onFired) => this.#timer("time is over", 0.1, onFired),
      maxRetries: random.below(4),
    };
    this.#world.followTime = () => {
      const time = new AbortController();
      this.#timer("follow time", 0.5, () => time.abort());
      return time.signal;
    };
    const authors = new Authors(this.#world.chain, randomMinds(random), this.#invariants.onViolation);
    this.#world.pipeline = (caller) => authors.port(caller);
    this.#world.code = {
      script: randomCode(random, this.#workflow, this.#temper.longestCode),
      onBegin: this.#invariants.onBegin,
      weight: () => random.pick(this.#temper.codeWeights),
    };
  }

  async run(): Promise<Simulation> {
    this.#start();
    this.#meddle();
    const { violations } = this.#invariants;
    try {
      await this.#goOn();
      await this.#sweepUp();
      for (let times = 0; times < 3 && this.#random.chance(0.3); times++) await this.#startAgain();
      await this.#invariants.judge();
    } catch (error) {
      violations.push(String(error));
    }
    return { flow: this.#workflow.id, story: this.#world.scheduler.story, violations, world: this.#world };
  }

  /**
   * Restarts one of the ended runs, from the failed node or from another place in the run. Faults happen in the
   * restart, too.
   */
  async #startAgain(): Promise<void> {
    const ports = this.#world.ports(atOnce);
    const whole = Array.from(this.#world.executions.records.values()).filter(({ parent }) => !parent);
    if (whole.length === 0) return;
    const source = this.#random.pick(whole);
    const version = this.#versionOf(source);
    if (this.#random.chance(0.3)) return this.#reuse(source, version);
    if (this.#random.chance(0.3)) return this.#takeDocument(source, version);
    const places = await placesIn(ports, source.id);
    const isFromThere = places.length > 0 && (source.status === "completed" || this.#random.chance(0.5));
    const again =
      places.length > 0 && this.#random.chance(0.2) ? [this.#random.pick(places).replace(/[#[].*/, "")] : [];
    if (!isFromThere && again.length === 0 && source.status === "completed") return;
    this.#faultsLeft = this.#temper.faults;
    sendApprovers(this.#world, this.#random, this.#rounds);
    const from = isFromThere && { from: await this.#placeIn(source.id, places) };
    const request = { source, version, by: "user:test", again, ...from };
    const { forecast } = await planRestart(ports, request);
    if (forecast.misfits.length > 0) return;
    const restarting = this.#world.spawn("restart", (own) => restartExecution(own, request));
    await this.#goOn();
    await this.#sweepUp();
    const answer = restarting.answer as { execution: Execution } | undefined;
    if (answer) await this.#invariants.judgeRestart(answer.execution.id, forecast);
  }

  /** Picks a place to restart from: one of `places`, or one inside the child run of such a place. */
  async #placeIn(execution: string, places: readonly string[]): Promise<string> {
    const ports = this.#world.ports(atOnce);
    const place = this.#random.pick(places);
    const child = (await Source.read(ports, execution)).entries.get(place)?.head.child?.execution;
    const inner = child ? await placesIn(ports, child) : [];
    if (child === undefined || inner.length === 0 || this.#random.chance(0.3)) return place;
    return `${place}/${await this.#placeIn(child, inner)}`;
  }

  /**
   * Picks the version that a restart runs: the version of the source run, the newest version, or a new version with a
   * changed workflow.
   */
  #versionOf({ workflowId, version }: Execution): WorkflowVersion {
    const versions = this.#world.workflows.versions.filter((one) => one.workflowId === workflowId);
    const [own, newest] = [versions.find((one) => one.version === version), versions.at(-1)];
    if (!own || !newest) throw new TypeError(`workflow ${workflowId} has no version ${version}`);
    if (!this.#random.chance(0.4)) return own;
    if (!this.#random.chance(0.7)) return newest;
    const other = otherFlow(newest.workflow, this.#random);
    try {
      return this.#world.publish(other, newest.version + 1, this.#random.pick(histories));
    } catch (error) {
      // The change may have removed the last edge to a node. The checks refuse such a workflow, so the restart runs the
      // version of its source.
      if (error instanceof RangeError) return own;
      throw error;
    }
  }

  /**
   * Starts a run that reuses the outcomes of nodes with equal inputs. The run gets the same list as its source or
   * another one, and some nodes count as changed.
   */
  async #reuse(source: Execution, version: WorkflowVersion): Promise<void> {
    const nodes = Array.from(nodeIndex(version.workflow).values()).filter(() => this.#random.chance(0.8));
    const keys = () => this.#random.pick([null, [], ["letter"], ["list"], ["item", "list"]]);
    const unchanged = Object.fromEntries(nodes.map(({ node }) => [node.id, keys()]));
    const context = JSON.stringify({ letter, list: this.#random.pick(lists) });
    this.#faultsLeft = this.#temper.faults;
    sendApprovers(this.#world, this.#random, this.#rounds);
    const { client } = source;
    const outcomes = await referenceUnchanged(this.#world.ports(atOnce), source, unchanged, []);
    const request = { version, client, context, outcomes };
    this.#world.spawn("reusing start", (own) => startExecution(own, request));
    await this.#goOn();
    await this.#sweepUp();
  }

  /**
   * Starts a run of the same workflow with a document of outcomes. The document contains outcomes for some places
   * (visits of nodes), including places in called workflows.
   */
  async #takeDocument(source: Execution, version: WorkflowVersion): Promise<void> {
    const outcomes = await this.#outcomesOf(source.id, "");
    const document = objectText(outcomes);
    this.#faultsLeft = this.#temper.faults;
    sendApprovers(this.#world, this.#random, this.#rounds);
    const { client, root } = source;
    const context = JSON.stringify({ letter, list: this.#random.pick(lists) });
    // In a sealed run, a node that may have effects fails if the document has no outcome for it. In this workflow, two
    // nodes handle each other's errors, so a sealed run of it would never end.
    const sealed = this.#random.chance(0.3) && version.workflowId !== "each other's onError";
    const request = { version, client, context, outcomes: { document, root, sealed } };
    const starting = this.#world.spawn("start with a document", (own) => startExecution(own, request));
    await this.#goOn();
    await this.#sweepUp();
    const answer = starting.answer as Execution | undefined;
    if (answer) await this.#invariants.judgeDocument(answer.id, outcomes);
  }

  async #outcomesOf(execution: string, within: string): Promise<Member[]> {
    const ports = this.#world.ports(atOnce);
    const outcomes: Member[] = [];
    for (const { name, head } of (await Source.read(ports, execution)).entries.values()) {
      const json = this.#random.chance(0.7) && (await writeOutcome(ports, head));
      if (json) outcomes.push({ key: within + name, json });
      if (head.child) outcomes.push(...(await this.#outcomesOf(head.child.execution, `${within}${name}/`)));
    }
    return outcomes;
  }

  /** Stops all faults, and runs sweepers until no run is open. */
  async #sweepUp(): Promise<void> {
    this.#faultsLeft = 0;
    for (let sweeps = 0; sweeps < maxSweeps && this.#isOpen(); sweeps++) {
      this.#world.clock.advance(60_000);
      this.#world.spawn("last sweeper", (ports) => this.#sweep(ports));
      await this.#goOn();
    }
  }

  #isOpen(): boolean {
    const isPending = this.#world.tasks.all().some(({ status }) => status === "open" || status === "answered");
    return isPending || Array.from(this.#world.executions.records.values()).some(({ open }) => open);
  }

  #start(): void {
    for (const called of calledFlows) this.#world.publish(called);
    const workflow = { ...this.#workflow, warm: this.#random.pick([0, 0, 2, 3]) };
    const version = this.#world.publish(workflow, 1, this.#random.pick(histories));
    const context = JSON.stringify({ letter, list: this.#random.pick(lists) });
    const start = (ports: Ports) => startExecution(ports, { version, context });
    this.#world.spawn("start", start);
    if (!this.#random.chance(0.4)) return;
    // A second run starts only when a run offers its sandbox to other runs, so that the second run can take this
    // sandbox.
    const ready = () => this.#world.executions.offers.size > 0;
    for (const name of this.#random.pick([["second"], ["second", "third"]])) {
      const later = { name: "begins", ready, effect: () => void this.#world.spawn(`${name} start`, start) };
      this.#world.scheduler.spawn(name, (own) => own.call(later));
    }
  }

  async #sweep(ports: Ports): Promise<void> {
    for (const { reason } of (await sweep(ports)).failed) this.#invariants.watchReason("sweeper", reason);
  }

  /**
   * Adds the people who answer tasks, and some of the actors of meddlers.ts. Each of these actors acts once, at a
   * random time.
   */
  #meddle(): void {
    sendApprovers(this.#world, this.#random, this.#rounds);
    const all = meddlers(this.#world, this.#workflow, this.#random, this.#temper.deaths, (ports) => this.#sweep(ports));
    for (const { name, chance, possible, act } of all) {
      if (!this.#random.chance(chance)) continue;
      const from = this.#random.below(longRun);
      // An act does most harm between the read and the write of another process. So half of the actors wait until a
      // process stalls.
      const isPatient = this.#random.chance(this.#temper.stallChance > 0 ? 0.5 : 0);
      const isTime = () => this.#picks >= from && (!isPatient || this.#isStalled());
      const call = { name: "acts", ready: () => isTime() && possible(), effect: act };
      this.#world.scheduler.spawn(name, (own) => own.call(call), 5);
    }
  }

  /** Delivers a task in one of three ways: once, twice at the same time, or a second time at a later moment. */
  #invoke(invocation: Invocation): Process[] {
    const deliver = (label: string, weight = this.#random.pick(weights)) => {
      const time = new AbortController();
      const delivery = this.#world.deliver(invocation, { label, weight, time });
      this.#timer(`deadline of ${delivery.name}`, 0.1, () => time.abort());
      return delivery;
    };
    const deliveries = [deliver("")];
    if (this.#random.chance(this.#temper.twiceChance)) deliveries.push(deliver(" again"));
    if (this.#random.chance(0.1)) {
      const late = { name: "deliver late", effect: () => void deliver(" late") };
      this.#world.scheduler.spawn("late", (own) => own.call(late), 0.01);
    }
    return deliveries;
  }

  #timer(name: string, chance: number, onFired: () => void): Process | null {
    if (this.#faultsLeft === 0 || !this.#random.chance(chance)) return null;
    return this.#world.scheduler.spawn(name, (own) => own.call({ name: "fire", effect: onFired }), 0.02);
  }

  async #goOn(): Promise<void> {
    const { scheduler, clock } = this.#world;
    await settled();
    for (let ready = scheduler.ready(); ready.length > 0; ready = scheduler.ready()) {
      const pending = this.#random.weighted(this.#awake(ready));
      clock.advance(1 + this.#random.below(20));
      await scheduler.perform(pending, this.#fault(pending));
    }
  }

  /**
   * Sometimes stalls a process, most often before a write, so that other processes overtake it. Returns the calls of
   * all processes that are not stalled.
   */
  #awake(ready: PendingCall[]): PendingCall[] {
    this.#picks++;
    const { process, call } = this.#random.pick(ready);
    if (!this.#stalled.has(process) && this.#random.chance(this.#temper.stallChance * (call.repeats ? 5 : 1))) {
      this.#stalled.set(process, this.#picks + 5 + this.#random.below(60));
    }
    const awake = ready.filter((pending) => !this.#stands(pending.process));
    return awake.length > 0 ? awake : ready;
  }

  #stands(process: Process): boolean {
    return (this.#stalled.get(process) ?? 0) >= this.#picks;
  }

  #isStalled(): boolean {
    return Array.from(this.#stalled.keys()).some((process) => !process.isOver && this.#stands(process));
  }

  #fault({ call, process }: PendingCall): Fault | undefined {
    if (this.#faultsLeft === 0 || !call.outage || !this.#random.chance(this.#temper.faultChance)) return undefined;
    // A start that fails before it has written a record leaves no run to check. So such faults are rare.
    if (process.name === "start" && call.name !== "StartExecution" && this.#random.chance(0.8)) return undefined;
    this.#faultsLeft--;
    const faults: Fault[] = ["before", "after", ...(call.repeats ? (["repeat"] as const) : []), "kill"];
    return process.isOver ? undefined : this.#random.pick(faults);
  }
}

/**
 * Returns a function that chooses the behaviour of a request's code: slow or fast, with a blob to read or a large
 * result. One in five fails.
 */
function randomCode(random: Random, workflow: Workflow, longest: number): (request: RunRequest) => Script {
  let ran = 0;
  const common = { logs: "", durationMs: 1 };
  const decide = (node: string): string => {
    const edges = nodeIndex(workflow).get(node)?.edges ?? [];
    // An edge that leads back is picked three times as often as another edge, so that loops take several rounds.
    const conditions = edges.flatMap(({ condition, max }) => (max ? [condition, condition, condition] : [condition]));
    return JSON.stringify(random.pick([...conditions, "something else"]));
  };
  return ({ node, nodeType, calls }) => {
    const script = { pauses: random.below(longest), ...(random.chance(0.1) && { reads: "letter" }) };
    const dice = random.next();
    if (calls && dice > 0.2 && random.chance(0.7)) {
      const call = { name: random.pick(toolsOf(workflow, node)), arguments: JSON.stringify({ n: ++ran }) };
      const set = [{ key: callKey, json: JSON.stringify(call) }];
      return { ...script, files: [], result: { ...common, status: "success", set, delete: [] } };
    }
    if (dice < 0.2) {
      const name = dice < 0.05 ? "NodeTimeout" : "NodeFailed";
      return {
        ...script,
        result: {
          ...common,
          status: "error",
          class: name,
          message: "it broke",
          traceback: "line 1",
          ...typed(name, dice),
        },
      };
    }
    // Each run of code sets a value of its own, so that the checks see which run set a value.
    const set = [{ key: node, json: `"run ${++ran}"` }];
    const files = random.chance(0.1) ? [Buffer.from(`report ${ran} `.repeat(500))] : [];
    for (const file of files) set.push({ key: "report", json: JSON.stringify({ $blob: textRef(file) }) });
    if (nodeType === "decision") set.push({ key: "branch_decision", json: decide(node) });
    return { ...script, files, result: { ...common, status: "success", set, delete: [] } };
  };
}

function toolsOf(workflow: Workflow, id: string): string[] {
  const node = nodeIndex(workflow).get(id)?.node;
  return node?.type === "agent" ? node.executor.tools.map(({ name }) => name) : [];
}

/** Adds the classes of an exception to half of the failures, because a retry can name such a class. */
function typed(name: "NodeFailed" | "NodeTimeout", dice: number) {
  return name === "NodeFailed" && dice > 0.12 ? { types: ["ConnectionError", "OSError", "Exception"] } : {};
}
