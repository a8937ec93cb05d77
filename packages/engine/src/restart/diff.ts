import {
  type IndexedNode,
  type Member,
  membersOf,
  type Node,
  nodeIndex,
  parseExact,
  RawJson,
  sorted,
  type Workflow,
  workflowHash,
} from "@nova/workflow";
import { decide } from "../attempt/judge.ts";
import { asWritten } from "../context/references.ts";
import { ContentsErased } from "../errors.ts";
import type { Ports } from "../ports/index.ts";
import type { CodeResult } from "../ports/sandboxes.ts";
import { isChosen } from "../protocol/definition.ts";
import { executionOf } from "../protocol/record.ts";
import { decisionKey } from "../protocol/settle-join.ts";
import { readEntries } from "../trace/read-trace.ts";
import type { TraceEntry } from "../trace/trace-entry.ts";
import { Names, Source } from "./source.ts";

/**
 * The comparison of the node at one place in two executions. Field names are public. `was` is the value of the first
 * execution, and `is` is the value of the second execution.
 */
export interface NodeDiff {
  /**
   * The name of the place, in the form of `SourceEntry.name`. `billing/send` is a place inside the execution that the
   * node `billing` ran.
   */
  place: string;
  path: "both" | "only_a" | "only_b";
  /**
   * SHA-256 of the node's settings without its code. Null if the run did not reach the node, or if its workflow version
   * no longer exists.
   */
  definition: Compared<string>;
  /** SHA-256 of the code that ran; null if no code ran. */
  code: Compared<string>;
  /** Keys whose values differ. A failure has the key `error`, and a choice has the key `branch_decision`. */
  context: { key: string; was: RawJson | null; is: RawJson | null }[];
  /** The cost of the node in each execution. Null for an execution that did not reach the node. */
  cost: { was: NodeCost | null; is: NodeCost | null };
}

interface Compared<T> {
  same: boolean;
  was: T | null;
  is: T | null;
}

interface NodeCost {
  cost_usd: number;
  execution_time_ms: number;
}

interface NodeRun {
  definition: string | null;
  code: string | null;
  output: Output;
  cost: NodeCost;
}

/**
 * Compares two executions node by node, in the order of the first execution. As in traces, secret values are masked,
 * and large values are references. Throws `ExecutionNotFound` if an execution does not exist, and `ContentsErased` if
 * its contents were erased.
 */
export async function diffExecutions(ports: Ports, a: string, b: string): Promise<NodeDiff[]> {
  const reader = new RunReader(ports);
  const [before, after] = [await reader.runs(a), await reader.runs(b)];
  return placesOf(before, after).map((place) => nodeDiff(place, before.get(place), after.get(place)));
}

function placesOf(before: ReadonlyMap<string, NodeRun>, after: ReadonlyMap<string, NodeRun>): string[] {
  let last = "";
  const added = Map.groupBy(after.keys(), (place) => {
    if (before.has(place)) last = place;
    return before.has(place) ? null : last;
  });
  return ["", ...before.keys()].flatMap((place) => [...(place ? [place] : []), ...(added.get(place) ?? [])]);
}

const nothing: Output = { set: [], delete: [] };

function nodeDiff(place: string, was: NodeRun | undefined, is: NodeRun | undefined): NodeDiff {
  const raw = (json: string | null) => (json === null ? null : asWritten(new RawJson(json)));
  const compare = (name: "definition" | "code") => {
    const both = { was: was?.[name] ?? null, is: is?.[name] ?? null };
    return { same: both.was === both.is, ...both };
  };
  const context = differences(was?.output ?? nothing, is?.output ?? nothing);
  return {
    place,
    path: was && is ? "both" : was ? "only_a" : "only_b",
    definition: compare("definition"),
    code: compare("code"),
    context: context.map(({ key, recorded, now }) => ({ key, was: raw(recorded), is: raw(now) })),
    cost: { was: was?.cost ?? null, is: is?.cost ?? null },
  };
}

class RunReader {
  readonly #ports: Ports;
  readonly #sources = new Map<string, Promise<Source>>();

  constructor(ports: Ports) {
    this.#ports = ports;
  }

  async runs(id: string): Promise<Map<string, NodeRun>> {
    const execution = await executionOf(this.#ports, id);
    if (execution.erased || (await this.#isErased(id))) throw new ContentsErased(id);
    const { entries } = await readEntries(this.#ports, id);
    const version = await this.#ports.workflows.get(execution.workflowId, execution.version);
    const runs = new Map<string, NodeRun>();
    await this.#walk(entries, { runs, names: new Names(), workflow: version?.workflow });
    return runs;
  }

  /**
   * Whether the contents of an execution were erased. The record does not always say so: deleting a client erases the
   * runs of the client, but does not mark their records.
   */
  async #isErased(execution: string): Promise<boolean> {
    const { entry } = await this.#ports.chain.read({ execution, scope: "", seq: 0 });
    return entry !== undefined && !("context" in entry.contents);
  }

  async #walk(
    entries: readonly TraceEntry[],
    walk: { runs: Map<string, NodeRun>; names: Names; workflow: Workflow | undefined },
  ): Promise<void> {
    const { runs, names, workflow } = walk;
    let fork: { run: NodeRun; isMap: boolean } | undefined;
    for (const entry of entries) {
      if (entry.node_type === "close") continue;
      const place = names.of(entry);
      if (entry.node_type === "join") {
        // The output of a join counts as output of the fork that it joins.
        if (fork) fork.run.output = joinOutputs(fork.run.output, buildRecordedOutput(entry), fork.isMap);
      } else {
        const run = await this.#runOf(entry, workflow);
        fork = { run, isMap: entry.node_type === "map" };
        runs.set(place, run);
      }
      for (const branch of entry.branches ?? []) await this.#walk(branch.entries, walk);
      const inside = entry.child ? await this.runs(entry.child.execution_id) : [];
      for (const [name, run] of inside) runs.set(`${place}/${name}`, run);
    }
  }

  async #runOf(entry: TraceEntry, workflow: Workflow | undefined): Promise<NodeRun> {
    const { execution_time_ms, steps } = entry;
    const cost_usd = steps.reduce((sum, step) => sum + step.cost_usd, 0);
    return {
      definition: workflow ? definitionHash(workflow, entry.node_id) : null,
      code: entry.reused_from ? await this.#codeAt(entry.reused_from) : entry.code_hash,
      output: buildRecordedOutput(entry),
      cost: { cost_usd, execution_time_ms },
    };
  }

  /**
   * Returns the hash of the code that produced a reused outcome; null if the execution in which the code ran no longer
   * exists.
   */
  async #codeAt({ execution_id, scope, seq }: NonNullable<TraceEntry["reused_from"]>): Promise<string | null> {
    const source = this.#sources.get(execution_id) ?? Source.read(this.#ports, execution_id);
    this.#sources.set(execution_id, source);
    return (await source).scope(scope).find(({ head }) => head.seq === seq)?.head.code ?? null;
  }
}

/**
 * Adds the keys that a join has set to the output of its fork: the list of a map, or an `error`. The nodes in the
 * branches report all other keys.
 */
function joinOutputs(fork: Output, { set }: Output, isMap: boolean): Output {
  const own = isMap ? set : set.filter(({ key }) => key === "error");
  return { ...fork, set: [...fork.set, ...own] };
}

/**
 * Hashes three groups of settings: those of a node, those of its edges, and those of the workflow that affect the code
 * of every node.
 */
function definitionHash(workflow: Workflow, id: string): string | null {
  const indexed = nodeIndex(workflow).get(id);
  if (!indexed) return null;
  const { node, edges } = indexed;
  const { requirements, lib, model, credentials } = workflow;
  const around =
    "executor" in node
      ? { requirements, lib, ...(model && { model }), ...(credentials && { credentials }) }
      : { requirements: [], lib: {} };
  return workflowHash({ format: 1, id: "", name: "", ...around, nodes: [withoutInside(node)], edges });
}

/** Returns the node without its code and without the nodes in its body. `diffExecutions` compares these separately. */
function withoutInside(node: Node): Node {
  if ("body" in node) return { ...node, body: { nodes: [], edges: [] } };
  if (!("executor" in node && "code" in node.executor)) return node;
  return { ...node, executor: { ...node.executor, code: "" } };
}

/** A key whose new value differs from the recorded value. Values are JSON texts; null: the key was not set. */
export interface Difference {
  key: string;
  recorded: string | null;
  now: string | null;
}

export interface Output {
  set: readonly Member[];
  delete: readonly string[];
}

/**
 * Compares two outputs key by key, and returns the differences sorted by key. Every digit of a number counts. The order
 * of members in an object does not count.
 */
export function differences(recorded: Output, now: Output): Difference[] {
  const [before, after] = [textsOf(recorded), textsOf(now)];
  const keys = Array.from(new Set([...before.keys(), ...after.keys()])).sort();
  return keys.flatMap((key) => {
    const [was, is] = [before.get(key) ?? null, after.get(key) ?? null];
    const isSame = was === is || (was !== null && is !== null && canonical(was) === canonical(is));
    return isSame ? [] : [{ key, recorded: was, now: is }];
  });
}

function textsOf({ set, delete: deleted }: Output): Map<string, string> {
  return new Map([
    ...deleted.map((key) => [key, '"(deleted)"'] as const),
    ...set.map(({ key, json }) => [key, json] as const),
  ]);
}

function canonical(json: string): string {
  return JSON.stringify(sorted(parseExact(json)));
}

/**
 * Converts the outcome of an entry to keys: a failure becomes the `error` that the `onError` node finds in its context,
 * and a choice becomes a `branch_decision`.
 */
export function buildRecordedOutput({
  changes,
  status,
  error_class,
  error_message,
  decision_result,
}: TraceEntry): Output {
  const set = membersOf(changes.set.text);
  const isSaid = set.some(({ key }) => key === decisionKey);
  return {
    set: [
      ...set,
      ...(status === "failed" ? [failure(error_class, error_message)] : []),
      ...(decision_result === null || isSaid ? [] : [{ key: decisionKey, json: JSON.stringify(decision_result) }]),
    ],
    delete: changes.delete,
  };
}

/** Converts the result of a replay, which runs the code of an entry again, to the form of `buildRecordedOutput`. */
export function buildReplayOutput(
  result: CodeResult,
  { edges }: Pick<IndexedNode, "edges">,
  entry: TraceEntry,
): Output {
  const failed = (...facts: Parameters<typeof failure>) => ({ set: [failure(...facts)], delete: [] });
  if (result.status === "error") return failed(result.class, result.message);
  if (!isChosen({ edges })) return result;
  const edge = decide(result.set.find(({ key }) => key === decisionKey)?.json, edges);
  if ("problem" in edge) return failed("NodeFailed", edge.problem);
  // The replay of the code does not know how often the run had taken the edge. If the entry failed because of `max`,
  // the replay counts as failed, too.
  const isAtMax = edge.max !== undefined && entry.status === "failed" && entry.traceback === null;
  return isAtMax ? failed(entry.error_class, entry.error_message) : result;
}

function failure(error_class: string | null, message: string | null): Member {
  return { key: "error", json: JSON.stringify({ class: error_class, message }) };
}
