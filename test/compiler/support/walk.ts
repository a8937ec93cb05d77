import {
  conditionLabel,
  type Edge,
  type Fork,
  forksOf,
  type IndexedNode,
  joinOf,
  type MapNode,
  nodeIndex,
  type Workflow,
} from "@nova/workflow";
import { type Fates, itemCount, outcomeOf } from "./fates.ts";

export interface Walk {
  scopes: Map<string, Visits>;
  /**
   * The text `succeeded`, or the error with which the execution fails. It is null if the end depends on the speed of
   * branches.
   */
  end: string | null;
  /** The kinds of events that the walk met. A test checks that the random walks meet them all. */
  events: Set<WalkEvent>;
}

export const walkEvents = [
  "rescued",
  "rescued map",
  "tolerated",
  "branch",
  "item",
  "deeper",
  "cut",
  "no items",
  "round",
  "worn out",
] as const;
type WalkEvent = (typeof walkEvents)[number];

export interface Visits {
  /** Ids of the visited nodes and joins, in order. */
  visited: string[];
  /** True if a parallel branch fails, so that the branch with this scope may be stopped at any node. */
  mayBeCut: boolean;
  /** The number of rounds of each loop edge since the walk last entered its loop. */
  rounds: Map<Edge, number>;
}

/**
 * The end of the main line, a branch or an item. `succeeded`: the main line reached an end node. `done`: a branch or an
 * item ended without a failure. `failed`: a node failed, and its failure is in the chain. `lost`: a node failed, but
 * its failure is not in the chain, so the `toleratedFailures` of a map do not cover it. `closed`: the run was closed
 * meanwhile. `either`: the end depends on which branch is faster.
 */
type End = { kind: "done" | "succeeded" | "closed" | "either" } | { kind: "failed" | "lost"; error: string };
type Onward = { to: string | null } | End;

/** Walks the edges of a workflow as the documentation describes, without any knowledge of state machines. */
export function walk(workflow: Workflow, fates: Fates): Walk {
  const walker = new Walker(workflow, fates);
  const end = walker.frame("start", null, "");
  return { scopes: walker.scopes, end: textOf(end), events: walker.events };
}

function textOf(end: End): string | null {
  if (end.kind === "either") return null;
  if (end.kind === "closed") return "ExecutionClosed";
  return "error" in end ? end.error : end.kind;
}

class Walker {
  readonly scopes = new Map<string, Visits>();
  readonly events = new Set<WalkEvent>();
  readonly #nodes: ReadonlyMap<string, IndexedNode>;
  readonly #forks: ReadonlyMap<string, Fork>;
  readonly #fates: Fates;

  constructor(workflow: Workflow, fates: Fates) {
    this.#nodes = nodeIndex(workflow);
    this.#forks = forksOf(workflow);
    this.#fates = fates;
  }

  /** Walks the main line, a branch or an item from the node `entry` to the join, or to the end of the body. */
  frame(entry: string, join: string | null, scope: string): End {
    const visits: Visits = { visited: [], mayBeCut: false, rounds: new Map() };
    this.scopes.set(scope, visits);
    if (scope !== "")
      this.events.add(scope.split("/").length > 2 ? "deeper" : /\.\d+$/.test(scope) ? "item" : "branch");
    let at: string | null = entry;
    while (at !== null && at !== join) {
      const indexed = this.#nodes.get(at) as IndexedNode;
      if (indexed.node.type === "end" && indexed.body !== null) break;
      const onward: Onward = this.#visit(indexed, scope, visits);
      if (!("to" in onward)) return onward;
      at = onward.to;
    }
    return { kind: "done" };
  }

  #visit(indexed: IndexedNode, scope: string, visits: Visits): Onward {
    const { node, edges } = indexed;
    const { visited } = visits;
    if (node.type === "start") return this.#goOn(node.id, edges[0]?.to, scope, visited);
    visited.push(node.id);
    const fate = this.#fates(scope, visited.length);
    const onError = "onError" in node ? node.onError : undefined;
    if (fate.kind === "closed") return { kind: "closed" };
    const outcome = outcomeOf(indexed, fate);
    if (outcome.failed !== null) {
      if (onError === undefined) return { kind: "failed", error: outcome.failed };
      this.events.add("rescued");
      leave(visits, node.id);
      return { to: onError };
    }
    if (fate.kind === "unsettled") return lambdaDied;
    // Without `onError`, a node of the main line has no settle task, so the run ends if the Lambda of the node dies in
    // every attempt.
    if (fate.kind === "unseen" && scope === "" && onError === undefined) return lambdaDied;
    if (node.type === "end") return { kind: "succeeded" };
    if (node.type === "map") return this.#map(indexed, itemCount(fate), scope, visited);
    if (outcome.decision !== null) return this.#decided(indexed, outcome.decision, visits);
    return this.#goOn(node.id, edges[0]?.to, scope, visited);
  }

  /**
   * Returns the target of the edge that a decision takes. If the edge leads back and was already taken `max` times,
   * this is the default edge. Without a default edge the node fails.
   */
  #decided({ node, edges }: IndexedNode, decision: string, visits: Visits): Onward {
    const edge = edgeFor(edges, decision);
    if (edge?.max === undefined) {
      leave(visits, node.id);
      return edge ? { to: edge.to } : { kind: "lost", error: "NodeFailed" };
    }
    const taken = visits.rounds.get(edge) ?? 0;
    if (taken < edge.max) {
      this.events.add("round");
      for (const other of [...visits.rounds.keys()])
        if (other.from !== node.id && this.#leadsTo(other.from, node.id)) visits.rounds.delete(other);
      visits.rounds.set(edge, taken + 1);
      return { to: edge.to };
    }
    this.events.add("worn out");
    leave(visits, node.id);
    const rest = edgeFor(edges, "default");
    if (rest) return { to: rest.to };
    const onError = "onError" in node ? node.onError : undefined;
    return onError === undefined ? { kind: "failed", error: "NodeFailed" } : { to: onError };
  }

  #leadsTo(from: string, to: string): boolean {
    const seen = new Set([from]);
    for (const id of seen) {
      const { node, edges } = this.#nodes.get(id) as IndexedNode;
      for (const edge of edges) if (edge.max === undefined) seen.add(edge.to);
      if (node && "onError" in node && node.onError !== undefined) seen.add(node.onError);
    }
    return seen.has(to);
  }

  #goOn(id: string, next: string | undefined, scope: string, visited: string[]): Onward {
    const fork = this.#forks.get(id);
    if (!fork) return { to: next ?? null };
    const prefix = `${scope}/${id}@${visited.length}.`;
    const ends = fork.branches.map(({ entry }) => this.frame(entry, fork.next, prefix + entry));
    return this.#join(joinOf(id), ends, { scope, visited, prefix }) ?? { to: fork.next };
  }

  #map({ node, edges }: IndexedNode, count: number, scope: string, visited: string[]): Onward {
    const fork = this.#forks.get(node.id);
    if (node.type !== "map" || !fork) throw new TypeError(`${node.id} is no map`);
    const prefix = `${scope}/${node.id}@${visited.length}.`;
    const entry = fork.branches[0]?.entry as string;
    const ends = Array.from({ length: count }, (_, index) => this.frame(entry, null, prefix + index));
    const join = joinOf(node.id);
    const end = this.#join(join, ends, { scope, visited, prefix, ...toleratedOf(node, count) });
    if (end?.kind === "failed" && node.onError !== undefined) {
      this.events.add("rescued map");
      return { to: node.onError };
    }
    return end ?? this.#goOn(join, edges[0]?.to, scope, visited);
  }

  /**
   * Visits the join of a fork. Returns null if the run continues after the join. Otherwise returns the reason why the
   * main line, branch or item ends at the join.
   */
  #join(join: string, ends: End[], at: { scope: string; visited: string[]; prefix: string; tolerated?: number }) {
    const count = (kind: End["kind"]) => ends.filter((end) => end.kind === kind).length;
    const { scope, visited, prefix, tolerated } = at;
    const breaking = count("lost") + (tolerated === undefined ? count("failed") : 0);
    if (breaking + count("closed") + count("either") > 0) this.#mayBeCut(prefix);
    if (count("either") > 0 || (count("closed") > 0 && breaking > 0)) return { kind: "either" } as const;
    if (count("closed") > 0) return { kind: "closed" } as const;
    if (ends.length === 0) this.events.add("no items");
    visited.push(join);
    const { kind } = this.#fates(scope, visited.length);
    if (kind === "closed") return { kind: "closed" } as const;
    if (kind === "unseen" || kind === "unsettled") return lambdaDied;
    const failed = breaking > 0 || count("failed") > (tolerated ?? 0);
    if (!failed && count("failed") > 0) this.events.add("tolerated");
    return failed ? ({ kind: "failed", error: "NodeFailed" } as const) : null;
  }

  #mayBeCut(prefix: string): void {
    this.events.add("cut");
    for (const [scope, visits] of this.scopes) if (scope.startsWith(prefix)) visits.mayBeCut = true;
  }
}

const lambdaDied: End = { kind: "lost", error: "Lambda.Unknown" };

export function toleratedOf({ toleratedFailures: limit }: MapNode, count: number): { tolerated?: number } {
  if (!limit) return {};
  return { tolerated: "count" in limit ? limit.count : (count * limit.percent) / 100 };
}

function leave({ rounds }: Visits, node: string): void {
  for (const edge of [...rounds.keys()]) if (edge.from === node) rounds.delete(edge);
}

export function edgeFor(edges: readonly Edge[], decision: string): Edge | undefined {
  const fitting = edges.find((edge) => conditionLabel(edge.condition) === decision);
  return fitting ?? edges.find((edge) => conditionLabel(edge.condition) === "default");
}
