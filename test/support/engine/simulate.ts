import {
  type Execution,
  type Member,
  objectText,
  type Ports,
  planRestart,
  restartExecution,
  Source,
  startExecution,
  sweep,
  type WorkflowVersion,
} from "@nova/engine";
import { nodeIndex, type Workflow } from "@nova/workflow";
import { referenceUnchanged } from "../../../packages/engine/src/restart/reuse.ts";
import { sendApprovers } from "./approvers.ts";
import { Authors } from "./authors.ts";
import { calledFlows, childFlows } from "./child-flows.ts";
import { straightFlows } from "./flows.ts";
import { forkFlows, mapFlows } from "./fork-flows.ts";
import { Invariants, placesIn } from "./invariants.ts";
import { longFlows } from "./long-flows.ts";
import { loopFlows } from "./loop-flows.ts";
import type { Invocation } from "./machine.ts";
import { meddlers } from "./meddlers.ts";
import { otherFlow } from "./other-version.ts";
import { promptFlows } from "./prompt-flows.ts";
import { Random } from "./random.ts";
import { randomCode } from "./random-code.ts";
import { randomMinds } from "./random-minds.ts";
import { atOnce, type Fault, type PendingCall, type Process, settled } from "./scheduler.ts";
import { harsh, type Temper, temperOf, weights } from "./temper.ts";
import { waitingFlows } from "./waiting-flows.ts";
import { World } from "./world.ts";
import { writeOutcome } from "./write-outcome.ts";

/** One random run: which flow, what happened call by call, and every invariant that it broke. */
export interface Simulation {
  flow: string;
  story: string[];
  violations: string[];
  world: World;
}

/** Runs the real engine once on a random flow, in a random order, with random faults. The seed says it all. */
export async function simulate(seed: number): Promise<Simulation> {
  return new Model(new Random(seed)).run();
}

const maxSweeps = 12;
/** Calls that a run takes when it takes long. */
const longRun = 100;
/** One value is a blob from the start. */
const letter = "dear all ".repeat(500);
/** Items of maps; the inner ones are those of maps inside of maps. */
const lists = [[], [[1, 2]], [[1, 2], [], [3]], [[1], [2], [3], [4]]];

/** How full a history gets before loops go on in a further execution. */
const histories = [0, 0, 20, 40].map((historyEvents) => ({ historyEvents }));

/** Loops twice: half of their runs are over before they lead back. */
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
  #faultsLeft: number;
  #picks = 0;
  /** Until which pick a process stands still. */
  readonly #stalled = new Map<Process, number>();

  constructor(random: Random) {
    this.#random = random;
    const isHarsh = random.chance(0.33);
    const family = random.pick(families);
    this.#workflow = random.pick(isHarsh ? family.filter(isRepeatable) : family);
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

  /** One of the runs that are over is restarted, from where it failed or from a place in it, and has its faults, too. */
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
    sendApprovers(this.#world, this.#random);
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

  /** One of the places, or one inside of what its node ran. */
  async #placeIn(execution: string, places: readonly string[]): Promise<string> {
    const ports = this.#world.ports(atOnce);
    const place = this.#random.pick(places);
    const child = (await Source.read(ports, execution)).entries.get(place)?.head.child?.execution;
    const inner = child ? await placesIn(ports, child) : [];
    if (child === undefined || inner.length === 0 || this.#random.chance(0.3)) return place;
    return `${place}/${await this.#placeIn(child, inner)}`;
  }

  /** What runs it next: the version that ran it, or the newest one, which may be another flow by now. */
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
      // A change may leave a step that no way leads to, which no check lets pass.
      if (error instanceof RangeError) return own;
      throw error;
    }
  }

  /** A new run, with the same values or others, takes over what finds the same; some nodes may have been changed. */
  async #reuse(source: Execution, version: WorkflowVersion): Promise<void> {
    const nodes = Array.from(nodeIndex(version.workflow).values()).filter(() => this.#random.chance(0.8));
    const keys = () => this.#random.pick([null, [], ["letter"], ["list"], ["item", "list"]]);
    const unchanged = Object.fromEntries(nodes.map(({ node }) => [node.id, keys()]));
    const context = JSON.stringify({ letter, list: this.#random.pick(lists) });
    this.#faultsLeft = this.#temper.faults;
    sendApprovers(this.#world, this.#random);
    const { client } = source;
    const outcomes = await referenceUnchanged(this.#world.ports(atOnce), source, unchanged, []);
    const request = { version, client, context, outcomes };
    this.#world.spawn("reusing start", (own) => startExecution(own, request));
    await this.#goOn();
    await this.#sweepUp();
  }

  /** A new run of the same flow, in which some places, inside of called flows too, come to what a document says. */
  async #takeDocument(source: Execution, version: WorkflowVersion): Promise<void> {
    const outcomes = await this.#outcomesOf(source.id, "");
    const document = objectText(outcomes);
    this.#faultsLeft = this.#temper.faults;
    sendApprovers(this.#world, this.#random);
    const { client, root } = source;
    const context = JSON.stringify({ letter, list: this.#random.pick(lists) });
    // No compiler lets this flow pass: in it, two nodes that may not run would fail for ever.
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

  /** In the end nothing fails any more, and sweepers come until nothing is open. */
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
    // What one leaves may serve the next.
    const ready = () => this.#world.executions.offers.size > 0;
    for (const name of this.#random.pick([["second"], ["second", "third"]])) {
      const later = { name: "begins", ready, effect: () => void this.#world.spawn(`${name} start`, start) };
      this.#world.scheduler.spawn(name, (own) => own.call(later));
    }
  }

  async #sweep(ports: Ports): Promise<void> {
    for (const { reason } of (await sweep(ports)).failed) this.#invariants.watchReason("sweeper", reason);
  }

  /** Whoever else may do something to a run does it once, at a time of his own. */
  #meddle(): void {
    sendApprovers(this.#world, this.#random);
    const all = meddlers(this.#world, this.#workflow, this.#random, this.#temper.deaths, (ports) => this.#sweep(ports));
    for (const { name, chance, possible, act } of all) {
      if (!this.#random.chance(chance)) continue;
      const from = this.#random.below(longRun);
      // Harm is done while somebody has read and not yet written: half of them wait for such a moment.
      const isPatient = this.#random.chance(this.#temper.stallChance > 0 ? 0.5 : 0);
      const isTime = () => this.#picks >= from && (!isPatient || this.#isStalled());
      const call = { name: "acts", ready: () => isTime() && possible(), effect: act };
      this.#world.scheduler.spawn(name, (own) => own.call(call), 5);
    }
  }

  /** A task is delivered once, or twice at the same time, or once more when everything may be over. */
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

  /** Now and then a process stalls, most likely before it writes, and everything else goes on for a while. */
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
    // A start that fails before its record is there leaves nothing to look at.
    if (process.name === "start" && call.name !== "StartExecution" && this.#random.chance(0.8)) return undefined;
    this.#faultsLeft--;
    const faults: Fault[] = ["before", "after", ...(call.repeats ? (["repeat"] as const) : []), "kill"];
    return process.isOver ? undefined : this.#random.pick(faults);
  }
}
