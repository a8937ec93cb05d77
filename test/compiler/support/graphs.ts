import { type Body, conditionLabel, type Edge, joinOf, type Node, type Workflow } from "@nova/workflow";
import type fc from "fast-check";
import type { Block, Choice, Each, Piece, Program, Step } from "./programs.ts";
import { programs } from "./programs.ts";
import { action, approval, childNode, decision, end, eventNode, map, start, untilNode, workflow } from "./workflows.ts";

export interface Graph {
  workflow: Workflow;
  /**
   * The node after each fork, by the id of the fork. If the branches start after a map, the id is that of the map's
   * join. The value is null if the body of a map ends after the fork.
   */
  joins: Record<string, string | null>;
}

/** Random valid workflows with nested forks and maps. Every node is reachable, and `onError` may lead back. */
export const graphs: fc.Arbitrary<Graph> = programs.map((program) => new Assembly(true).whole(program));

/** Random valid workflows without cycles. */
export const forwardGraphs: fc.Arbitrary<Graph> = programs.map((program) => new Assembly(false).whole(program));

/** The condition of all loop edges. */
const round = "go round";
const maxLoops = 2;

/** The position at which a block is added: the nodes and edges of the body so far, and the node after the block. */
interface Place {
  body: Body;
  /** The node after the block. It is null if the body of a map ends there. */
  next: string | null;
  /** Nodes to which a choice may lead, in addition to the later pieces of the block and `next`. */
  others: string[];
  /** True for the body of a map. In such a body, no `onError` may lead back to the first node. */
  isBody: boolean;
}

class Assembly {
  readonly #joins: Record<string, string | null> = {};
  #count = 0;
  #loops = 0;
  #mayGoBack: boolean;

  constructor(mayGoBack: boolean) {
    this.#mayGoBack = mayGoBack;
  }

  whole({ first, block, ends }: Program): Graph {
    const ids = Array.from({ length: ends }, (_, index) => `end${index}`);
    const body: Body = { nodes: [start(), ...ids.map(end)], edges: [] };
    const place: Place = { body, next: "end0", others: ids.slice(1), isBody: false };
    const follows = this.#block(block, place);
    this.#goOn("start", "start", first, follows, place);
    const whole = { ...workflow([], []), ...reachable(body, "start") };
    return {
      workflow: whole,
      joins: Object.fromEntries(Object.entries(this.#joins).filter(([id]) => isIn(whole, id))),
    };
  }

  /** Adds the nodes of a block and returns its first node. */
  #block(block: Block, place: Place): string | null {
    const ids = block.map((piece) => `${piece.kind.at(0)}${this.#count++}`);
    for (const [index, piece] of block.entries()) {
      const id = ids[index] as string;
      const behind = [...ids.slice(index + 1), ...(place.next === null ? [] : [place.next])];
      const loop = this.#loopOf(piece);
      const mayGoBack = this.#mayGoBack && loop === null;
      const back = mayGoBack ? ids.slice(place.isBody ? 1 : 0, index) : [];
      const onError = pick(piece.onError, [...back, ...behind]);
      const extra = onError === undefined ? {} : { onError };
      place.body.nodes.push(this.#node(id, piece, extra));
      const next = ids[index + 1] ?? place.next;
      if (piece.kind === "decision" || piece.kind === "approval") {
        const targets = piece.targets.map((target) => pick(target, [...behind, ...place.others]) ?? place.next);
        place.body.edges.push(...edgesOf(id, { ...piece, loop }, targets as string[]));
        if (loop) this.#goBack(id, ids.slice(0, index + 1), loop, place);
      } else if ("branches" in piece)
        this.#goOn(id, piece.kind === "map" ? joinOf(id) : id, piece.branches, next, place);
    }
    return ids[0] ?? place.next;
  }

  #goBack(from: string, among: string[], { back, max, detour }: NonNullable<Choice["loop"]>, place: Place): void {
    // A detour (nodes that only a loop edge reaches) must not lead to the first node of a map's body. Otherwise no
    // other node would lack an incoming edge, so the detour would count as the start of the body.
    const to = pick(back, detour && place.isBody ? among.slice(1) : among);
    if (to === undefined) return;
    const first = detour ? `x${this.#count++}` : to;
    place.body.edges.push({ from, to: first, condition: round, max });
    if (!detour) return;
    place.body.nodes.push(action(first));
    place.body.edges.push({ from: first, to });
  }

  /** Returns the loop of a choice, or null. Only few choices get one, because nested loops multiply their rounds. */
  #loopOf(piece: Piece): Choice["loop"] {
    const loop = "loop" in piece && this.#loops < maxLoops ? piece.loop : null;
    if (loop) this.#loops++;
    return loop;
  }

  #node(id: string, piece: Piece, extra: { onError?: string }): Node {
    switch (piece.kind) {
      case "action":
        return action(id, { ...(piece.isLong && { timeoutSeconds: 3_600 }), ...extra });
      case "until":
        return untilNode(id, extra);
      case "event":
        return eventNode(id, extra);
      case "child":
        return childNode(id, extra);
      case "decision":
        return decision(id, extra);
      case "approval":
        return approval(id, [...piece.conditions.map(conditionLabel), round], extra);
      case "map":
        return this.#map(id, piece, extra);
    }
  }

  #map(id: string, { body: block, tolerated, maxConcurrency }: Each, extra: { onError?: string }): Node {
    // Adds an end node if the body contains a choice, because every edge of a choice needs a target. The last nodes of
    // any other body have no edges.
    const done = needsEnd(block) ? `done${this.#count++}` : null;
    const body: Body = { nodes: done === null ? [] : [end(done)], edges: [] };
    const entry = this.#block(block, { body, next: done, others: [], isBody: true }) as string;
    const toleratedFailures = tolerated === null ? {} : { toleratedFailures: tolerated };
    return map(id, reachable(body, entry), { maxConcurrency, ...toleratedFailures, ...extra });
  }

  #goOn(from: string, fork: string, branches: Step["branches"], next: string | null, place: Place): void {
    const targets = branches.map((branch) => this.#block(branch, { ...place, next, others: [], isBody: false }));
    if (branches.length > 0) this.#joins[fork] = next?.startsWith("done") ? null : next;
    else targets.push(next);
    for (const to of targets) if (to !== null) place.body.edges.push({ from, to });
  }
}

/**
 * Returns the edges of a choice, without its loop edge. Every approval gets a default edge, so that a run can leave its
 * loop.
 */
function edgesOf(from: string, { conditions, kind, hasDefault, hasTimeout }: Choice, targets: string[]): Edge[] {
  const extra = [
    ...(hasDefault || kind === "approval" ? ["default"] : []),
    ...(kind === "approval" && hasTimeout ? ["timeout"] : []),
  ];
  const labels = kind === "approval" ? conditions.map(conditionLabel) : conditions;
  return [...labels, ...extra].map((label, nth) => ({ from, to: targets[nth] as string, condition: label }));
}

function pick(jump: number | null, among: string[]): string | undefined {
  return jump === null ? undefined : among[jump % among.length];
}

function needsEnd(block: Block): boolean {
  return block.some((piece) => !("branches" in piece) || piece.branches.some(needsEnd));
}

function isIn({ nodes }: Body, fork: string): boolean {
  const id = fork.replace(/\.join$/, "");
  return nodes.some((node) => node.id === id || (node.type === "map" && isIn(node.body, fork)));
}

/**
 * Returns the nodes that the node `entry` reaches without loop edges, and the edges between them. Adds the loop edges
 * that lead back to one of these nodes, directly or through a node that only the loop edge reaches (a detour).
 */
function reachable({ nodes, edges }: Body, entry: string): Body {
  const leaving = Map.groupBy(
    edges.filter(({ max }) => max === undefined),
    ({ from }) => from,
  );
  const onErrors = new Map(nodes.map((node) => [node.id, "onError" in node ? node.onError : undefined]));
  const behind = (id: string) => {
    const seen = new Set([id]);
    for (const one of seen) {
      const onError = onErrors.get(one);
      if (onError !== undefined) seen.add(onError);
      for (const { to } of leaving.get(one) ?? []) seen.add(to);
    }
    return seen;
  };
  const seen = behind(entry);
  // Returns whether a loop edge leads back, directly or through a detour. `reachable` omits the edge and the nodes of a
  // detour that does not lead back.
  const comesBack = ({ from, to }: Edge) => {
    const next = behind(to);
    return next.has(from) && [...next].every((id) => id === to || seen.has(id));
  };
  const loops = new Set(edges.filter((edge) => edge.max !== undefined && seen.has(edge.from) && comesBack(edge)));
  for (const { to } of loops) seen.add(to);
  const isKept = (edge: Edge) => (edge.max === undefined ? seen.has(edge.from) : loops.has(edge));
  return { nodes: nodes.filter(({ id }) => seen.has(id)), edges: edges.filter(isKept) };
}
