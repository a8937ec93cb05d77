import { localFunctions, toStateMachine } from "@nova/compiler";
import type { WorkflowVersion } from "@nova/engine";
import { isLong, joinOf, nodeIndex, type Workflow } from "@nova/workflow";
import type { InvokeLambda } from "../../../packages/aws-local/src/lambda-types.ts";
import type { ChildStart, ReadObject } from "../../../packages/aws-local/src/states/asl/host.ts";
import { loopsAfter } from "../../../packages/engine/src/protocol/commit.ts";
import { type Loops, takeEdge } from "../../../packages/engine/src/protocol/definition.ts";
import { type RunResult, runStateMachine, TaskTokens } from "../../aws-local/states/support/run-state-machine.ts";
import { virtualClock } from "../../aws-local/states/support/virtual-clock.ts";
import { type Fate, type Fates, isEvent, itemCount, type Outcome, outcomeOf } from "./fates.ts";
import { edgeFor, toleratedOf } from "./walk.ts";

interface Position {
  execution: { id: string };
  scope: string;
  /** The number of the last entry in the scope. */
  seq: number;
}

interface NodePayload extends Position {
  node: string;
  waited?: true;
  expired?: true;
  token?: string;
  inline_items?: number;
}

interface JoinPayload {
  join: string;
  at: Position & { error?: object };
}

export interface Executed {
  /** Ids of the visited nodes and joins, by scope. */
  scopes: Map<string, string[]>;
  end: string;
  /** The number of events in the histories of all executions. */
  events: number;
  /** Number of executions of the state machine, including the further executions in which a loop continued. */
  executions: number;
  /** Number of maps that ran their items in separate executions. */
  mapRuns: number;
}

/**
 * The outcome of an entry, and the number of rounds of each loop after the entry. The outcome already takes the `max`
 * of each loop into account.
 */
interface Turned {
  outcome: Outcome;
  loops: Loops | undefined;
  /** The node to which the decision leads back, if it starts another round. */
  back?: string;
}

const execution = { id: "exec_1", workflowId: "sample", version: 1 };

/**
 * Compiles a workflow and executes its state machine. Simulated functions take the place of the real functions and
 * return the same results.
 */
export async function execute(
  workflow: Workflow,
  fates: Fates,
  options: { inlineItems?: number; historyEvents?: number } = {},
): Promise<Executed> {
  const clock = virtualClock();
  const functions = new ScriptedFunctions(workflow, fates, {
    tokens: new TaskTokens(),
    continues: options.historyEvents !== undefined,
  });
  const { invoke: invokeLambda, tokens, scopes } = functions;
  const machine = toStateMachine(workflow, options);
  const results: RunResult[] = [];
  const run = async (input: object): Promise<RunResult> => {
    const children = new Children(run);
    const result = await runStateMachine(machine, input, { invokeLambda, readObject, clock, tokens, children });
    results.push(result);
    return result;
  };
  const result = await run({ execution, scope: "", seq: 0 });
  const events = results.flatMap((one) => one.events);
  return {
    scopes,
    end: result.status === "SUCCEEDED" ? "succeeded" : String(result.error),
    events: events.length,
    mapRuns: events.filter(({ type }) => type === "MapRunStarted").length,
    executions: results.length,
  };
}

class ScriptedFunctions {
  readonly scopes = new Map<string, string[]>([["", []]]);
  readonly tokens: TaskTokens;
  readonly #nodes: ReturnType<typeof nodeIndex>;
  readonly #fates: Fates;
  readonly #workflow: Workflow;
  /** Outcomes by scope and entry number. */
  readonly #turned = new Map<string, Turned>();
  /** Scopes whose last entry is a failure. */
  readonly #failed = new Set<string>();
  /** Scopes in which a function reported that the run is closed. */
  readonly #closed = new Set<string>();
  readonly #delivered = new Set<string>();
  readonly #looked = new Set<string>();
  readonly #continues: boolean;
  #closedAs: object | undefined;

  constructor(workflow: Workflow, fates: Fates, { tokens, continues }: { tokens: TaskTokens; continues: boolean }) {
    this.#continues = continues;
    this.#nodes = nodeIndex(workflow);
    this.#fates = fates;
    this.#workflow = workflow;
    this.tokens = tokens;
  }

  readonly invoke: InvokeLambda = async (arn, text) => {
    const payload = JSON.parse(text);
    return { ok: true, payload: JSON.stringify(this.#answer(arn, payload)) };
  };

  #answer(arn: string, payload: NodePayload & JoinPayload & { error?: object; continuation?: object }): object {
    if (arn === localFunctions.runNode) return this.#run(payload);
    if (arn === localFunctions.requestApproval) return this.#request(payload);
    if (arn === localFunctions.settleNode) return payload.join ? this.#join(payload) : this.#settle(payload);
    return { error: this.#close(payload) };
  }

  /**
   * Simulates the function that closes a failed run, and returns the error with which the execution then ends. If a
   * further execution has closed the run, the executions that wait for it end with the same error.
   */
  #close({ error, continuation }: { error?: object; continuation?: object }): object {
    const unknown = { Error: "NodeFailed", Cause: "no edge fits the decision" };
    if (!continuation) this.#closedAs ??= error ?? unknown;
    return this.#closedAs ?? { Error: "ExecutionClosed", Cause: "cancelled" };
  }

  #run(payload: NodePayload): object {
    const { node } = this.#node(payload);
    if (node.type === "workflow" && !payload.waited) return this.#call(payload);
    if (node.type === "wait" && !isEvent(node) && !payload.waited && this.#fate(payload).kind !== "fails") {
      if (this.#fate(payload).kind === "closed") this.#enter(node.id, payload);
      this.#dieOr(payload, "closed", "flaky");
      return { ...linkAt(payload, payload.seq), until: "2026-01-01T01:00:00Z" };
    }
    if (node.type === "action" && isLong(node) && this.#looksFirst(payload)) {
      return { ...linkAt(payload, payload.seq), running: true, pause: 5 };
    }
    this.#enter(payload.node, payload);
    this.#dieOr(payload, "closed", "flaky", "unseen", "unsettled");
    return this.#succeed(payload);
  }

  /**
   * Returns whether this is the first delivery of a node with a long timeout. The code is still running when the first
   * delivery ends.
   */
  #looksFirst({ scope, seq }: Position): boolean {
    const link = `${scope}#${seq}`;
    const isFirst = !this.#looked.has(link);
    this.#looked.add(link);
    return isFirst;
  }

  /**
   * Returns the child execution to start. `Children` decides by the name of the child execution whether the child
   * execution fails.
   */
  #call(payload: NodePayload): object {
    const { kind } = this.#fate(payload);
    if (kind === "closed") this.#enter(payload.node, payload);
    this.#dieOr(payload, "closed", "flaky");
    return { ...linkAt(payload, payload.seq), child: { arn: "arn:called", name: kind, input: {} } };
  }

  /**
   * Simulates the request of an approval or of a wait for an event. The answer comes at once, never comes, or does not
   * reach Step Functions.
   */
  #request(payload: NodePayload): object {
    const { kind } = this.#fate(payload);
    if (kind === "expires") return this.#once(payload);
    this.#enter(payload.node, payload);
    this.#dieOr(payload, "closed", "flaky", "unseen", "unsettled");
    const answer = this.#succeed(payload);
    if (kind !== "late") this.tokens.succeed(payload.token as string, JSON.parse(JSON.stringify(answer)));
    return {};
  }

  #settle(payload: NodePayload): object {
    if (payload.expired) this.#enter(payload.node, payload);
    this.#assertEntered(payload.node, payload);
    this.#dieOr(payload, "unsettled");
    const { node } = this.#node(payload);
    const outcome = this.#outcome(payload);
    if (outcome.failed === null) return { ...this.#success(payload), failed: false };
    if (!("onError" in node) || node.onError === undefined) this.#failed.add(payload.scope);
    return { ...linkAt(payload, payload.seq + 1), failed: true, error: { Error: outcome.failed, Cause: "it broke" } };
  }

  #join({ join: fork, at }: JoinPayload): object {
    const join = joinOf(fork);
    const prefix = `${at.scope}/${fork}@${at.seq}.`;
    if ([...this.#closed].some((scope) => scope.startsWith(prefix))) throw named("ExecutionClosed", "cancelled");
    this.#enter(join, at);
    this.#dieOr(at, "closed", "flaky", "unseen", "unsettled");
    const map = this.#nodes.get(fork)?.node;
    const items = [...this.#failed].filter((scope) => isChild(scope, prefix));
    const started = map?.type === "map" ? itemCount(this.#fates(at.scope, at.seq)) : 0;
    const tolerated = map?.type === "map" ? (toleratedOf(map, started).tolerated ?? 0) : 0;
    const failed = at.error !== undefined || items.length > tolerated;
    if (failed && !(map?.type === "map" && map.onError !== undefined)) this.#failed.add(at.scope);
    const error = failed ? { error: { Error: "NodeFailed", Cause: "a branch failed" } } : {};
    return { ...linkAt(at, at.seq + 1), failed, ...error };
  }

  #succeed(payload: NodePayload): object {
    const outcome = this.#outcome(payload);
    if (outcome.failed !== null) throw named(outcome.failed, "it broke");
    return this.#success(payload);
  }

  #success(payload: NodePayload): object {
    const outcome = this.#outcome(payload);
    const decision = outcome.failed === null && outcome.decision !== null ? { decision: outcome.decision } : {};
    const count = itemCount(this.#fate(payload));
    const isMap = this.#node(payload).node.type === "map";
    const items = isMap ? itemsOf(count, payload) : {};
    return { ...linkAt(payload, payload.seq + 1), summary: {}, ...decision, ...items, ...this.#goesOn(payload) };
  }

  /**
   * Returns the further execution that runs the next round of a loop on the main line. Returns an empty object if no
   * new round starts, or if the state machine continues no loops in further executions.
   */
  #goesOn({ scope, seq }: Position): object {
    if (!this.#continues) return {};
    const resume = this.#turned.get(`${scope}#${seq + 1}`)?.back;
    if (scope !== "" || resume === undefined) return {};
    const input = { execution, scope, seq: seq + 1, resume };
    return { continuation: { arn: itself, name: `exec_1.${seq + 1}`, input } };
  }

  /** Returns the outcome of a node. Whether a loop runs again is decided by the engine's real function `takeEdge`. */
  #outcome(payload: Position & { node: string }): Outcome {
    const { scope, seq } = payload;
    const known = this.#turned.get(`${scope}#${seq + 1}`) ?? this.#turn(payload);
    this.#turned.set(`${scope}#${seq + 1}`, known);
    return known.outcome;
  }

  #turn(payload: Position & { node: string }): Turned {
    const { scope, seq, node } = payload;
    const before = this.#loopsBehind(scope, seq);
    const outcome = outcomeOf(this.#node(payload), this.#fate(payload));
    const out = { outcome, loops: loopsAfter(before, node) };
    const indexed = this.#node(payload);
    const edge =
      outcome.failed === null && outcome.decision !== null ? edgeFor(indexed.edges, outcome.decision) : undefined;
    if (edge?.max === undefined) return out;
    const taken = takeEdge({ ...indexed, version: { workflow: this.#workflow } as WorkflowVersion }, edge, before);
    if ("problem" in taken) return { ...out, outcome: { failed: "NodeFailed" } };
    const outcomeTaken = { failed: null, decision: taken.label };
    return taken.loops
      ? { outcome: outcomeTaken, loops: taken.loops, back: taken.to }
      : { ...out, outcome: outcomeTaken };
  }

  #loopsBehind(scope: string, seq: number): Loops | undefined {
    const node = this.scopes.get(scope)?.[seq - 1];
    if (seq === 0 || node === undefined) return undefined;
    if (!this.#nodes.has(node)) return this.#loopsBehind(scope, seq - 1);
    this.#outcome({ execution, scope, seq: seq - 1, node });
    return this.#turned.get(`${scope}#${seq}`)?.loops;
  }

  #node({ node }: { node: string }) {
    const indexed = this.#nodes.get(node);
    if (!indexed) throw named("Unexpected", `there is no node ${node}`);
    return indexed;
  }

  #fate({ scope, seq }: Position) {
    return this.#fates(scope, seq + 1);
  }

  /** Notes that a delivery wrote an entry. Notes the entry only once if several deliveries write it. */
  #enter(name: string, at: Position): void {
    const visited = this.scopes.get(at.scope) ?? [];
    this.scopes.set(at.scope, visited);
    if (visited.length === at.seq) visited.push(name);
    this.#assertEntered(name, at);
  }

  #assertEntered(name: string, { execution: given, scope, seq }: Position): void {
    const visited = this.scopes.get(scope) ?? [];
    const [expected, got] = [
      [visited[seq], execution.id, visited.length - 1],
      [name, given.id, seq],
    ];
    if (String(got) !== String(expected)) throw named("Unexpected", `got ${got} instead of ${expected}`);
  }

  /**
   * Throws an error if an approval or an event wait is requested twice. Its timeout is an outcome of the node, so the
   * state machine must not repeat the request.
   */
  #once({ scope, seq }: Position): object {
    const link = `${scope}#${seq}`;
    if (this.#delivered.has(link)) throw named("Unexpected", `${link} is delivered twice`);
    this.#delivered.add(link);
    return {};
  }

  #dieOr(at: Position, ...kinds: Fate["kind"][]): void {
    const { kind } = this.#fate(at);
    const link = `${at.scope}#${at.seq}`;
    const isNew = !this.#delivered.has(link);
    this.#delivered.add(link);
    if (!kinds.includes(kind)) return;
    if (kind === "closed") this.#closed.add(at.scope);
    if (kind === "closed") throw named("ExecutionClosed", "cancelled");
    if (kind !== "flaky" || isNew) throw named("Lambda.Unknown", "the Lambda died");
  }
}

/**
 * Returns the items as the engine does: as a list of numbers, or as the key of such a list in S3. The key is the length
 * of the list.
 */
function itemsOf(count: number, { inline_items: most = count }: NodePayload): object {
  if (count > most) return { count, distributed: true, manifest: { bucket: "lists", key: String(count) } };
  return { count, distributed: false, items: numbers(count) };
}

const numbers = (count: number) => Array.from({ length: count }, (_, index) => index);

const readObject: ReadObject = async ({ key }) => JSON.stringify(numbers(Number(key)));

/** Returns the position that every result of a function contains. */
function linkAt({ scope }: Position, seq: number): object {
  return { execution, scope, seq };
}

/** True for a scope directly in the fork with this prefix, false for a scope in a nested fork. */
function isChild(scope: string, prefix: string): boolean {
  return scope.startsWith(prefix) && !scope.slice(prefix.length).includes("/");
}

function named(name: string, message: string): Error {
  return Object.assign(new Error(message), { name });
}

/**
 * The ARN of the executed state machine. The state machine starts itself when a loop continues in a further execution.
 */
export const itself = "arn:itself";
/** Names of child executions that fail. */
const failing = ["fails", "unseen"];
const alreadyExists = "StepFunctions.ExecutionAlreadyExistsException";

/**
 * Simulates Step Functions for child executions, and for further executions that continue a loop. The name of a failed
 * execution cannot be used again.
 */
export class Children {
  readonly #failed = new Set<string>();
  readonly #further = new Map<string, Promise<RunResult>>();
  readonly #run: (input: object) => Promise<RunResult>;

  constructor(run: (input: object) => Promise<RunResult>) {
    this.#run = run;
  }

  startExecution = async ({ stateMachineArn, name, input }: ChildStart) => {
    if (this.#failed.delete(name)) throw Object.assign(new Error("it is over"), { name: alreadyExists });
    if (stateMachineArn === itself) this.#further.set(name, this.#run(JSON.parse(input)));
    return { executionArn: name, startedAtMs: 0 };
  };

  executionEnded = async (name: string) => {
    const further = await this.#further.get(name);
    const status = further?.status ?? (failing.includes(name) ? "FAILED" : "SUCCEEDED");
    if (status === "FAILED") this.#failed.add(name);
    const times = { startedAtMs: 0, stoppedAtMs: 0 };
    const ended = { executionArn: name, stateMachineArn: "arn:called", name, status, ...times, input: "{}" };
    return status === "FAILED" ? ended : { ...ended, output: JSON.stringify(further?.output ?? {}) };
  };
}
