import {
  type Fork,
  forksOf,
  type IndexedNode,
  joinOf,
  type MapNode,
  type Node,
  nodeIndex,
  type Workflow,
} from "@nova/workflow";
import type { Plan, PlannedFork, PlannedFrame, PlannedMap, PlannedNode } from "./plan.ts";
import { UncheckedWorkflow } from "./unchecked.ts";
import { branchesOf, failureWay, type Inside, nextOf, runsOf } from "./ways.ts";

/** Resolves the edges of a checked workflow; throws `UncheckedWorkflow` where only a missing check can be the reason. */
export function lower(workflow: Workflow): Plan {
  const start = workflow.nodes.find((node) => node.type === "start");
  if (!start) throw new UncheckedWorkflow(`workflow "${workflow.id}" has no start node`);
  const forks = forksOf(workflow);
  const inBranches = new Set([...forks.values()].flatMap(({ branches }) => branches.flatMap(({ nodes }) => nodes)));
  const main = workflow.nodes.filter(({ id }) => !inBranches.has(id)).map(({ id }) => id);
  return {
    comment: workflow.description ?? workflow.name,
    ...(workflow.timeoutSeconds !== undefined && { timeoutSeconds: workflow.timeoutSeconds }),
    main: new Lowering(nodeIndex(workflow), forks).main(start.id, main),
  };
}

type DistributiveOmit<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never;
type MapField = "type" | "maxConcurrency" | "toleratesFailures" | "body";

class Lowering {
  readonly #nodes: ReadonlyMap<string, IndexedNode>;
  readonly #forks: ReadonlyMap<string, Fork>;
  readonly #seen = new Set<string>();

  constructor(nodes: ReadonlyMap<string, IndexedNode>, forks: ReadonlyMap<string, Fork>) {
    this.#nodes = nodes;
    this.#forks = forks;
  }

  main(entry: string, ids: readonly string[]): PlannedFrame {
    return this.#frame({ entry, nodes: ids }, true);
  }

  #frame({ entry, nodes }: { entry: string; nodes: readonly string[] }, isMain: boolean): PlannedFrame {
    const inside: Inside = { nodes: new Set(nodes), isMain };
    return { entry, nodes: nodes.map((id) => this.#node(id, inside)) };
  }

  #node(id: string, inside: Inside): PlannedNode {
    const indexed = this.#nodes.get(id);
    if (!indexed) throw new UncheckedWorkflow(`there is no node "${id}"`);
    if (this.#seen.has(id)) throw new UncheckedWorkflow(`node "${id}" is in two branches`);
    this.#seen.add(id);
    return { id, ...commentOf(indexed.node), ...this.#waysOf(indexed, inside) };
  }

  #waysOf(indexed: IndexedNode, inside: Inside): DistributiveOmit<PlannedNode, "id"> {
    const { node, edges } = indexed;
    switch (node.type) {
      case "end":
        if (inside.isMain) return { type: "end" };
        throw new UncheckedWorkflow(`end node "${node.id}" is in a branch`);
      case "start":
        return { type: "start", ...this.#onward(indexed, inside) };
      case "action":
        return { type: "action", ...runsOf(node), ...this.#onward(indexed, inside), ...failureWay(node, inside) };
      case "decision":
        return {
          type: "decision",
          ...runsOf(node),
          ...branchesOf(node.id, edges, inside),
          ...failureWay(node, inside),
        };
      case "approval": {
        const ways = { ...branchesOf(node.id, edges, inside), ...failureWay(node, inside) };
        return { type: "approval", timeoutSeconds: node.timeoutSeconds, ...ways };
      }
      case "wait": {
        const ways = { ...this.#onward(indexed, inside), ...failureWay(node, inside) };
        return { type: "wait", ...(node.for.kind === "event" && { timeoutSeconds: node.for.timeoutSeconds }), ...ways };
      }
      case "workflow":
        return { type: "workflow", ...this.#onward(indexed, inside), ...failureWay(node, inside) };
      case "map":
        return { ...this.#map(node), ...this.#onward(indexed, inside), ...failureWay(node, inside) };
    }
  }

  #map({ id, maxConcurrency, toleratedFailures }: MapNode): Pick<PlannedMap, MapField> {
    const body = this.#forks.get(id)?.branches[0];
    if (!body) throw new UncheckedWorkflow(`map "${id}" has no body`);
    const toleratesFailures = toleratedFailures !== undefined;
    return { type: "map", maxConcurrency, toleratesFailures, body: this.#frame(body, false) };
  }

  #onward(indexed: IndexedNode, inside: Inside): { next: string | null; fork?: PlannedFork } {
    const { node } = indexed;
    const fork = this.#forks.get(node.type === "map" ? joinOf(node.id) : node.id);
    const next = nextOf(indexed, fork, inside);
    if (!fork) return { next };
    const branches = fork.branches.map((branch) => this.#frame(branch, false));
    return { next, fork: { node: fork.node, branches } };
  }
}

function commentOf({ description, name }: Node): { comment?: string } {
  const comment = description ?? name;
  return comment === undefined ? {} : { comment };
}
