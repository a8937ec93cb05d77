import type { Body, Edge, Node, Workflow } from "@nova/workflow";
import { action } from "./flows.ts";
import type { Random } from "./random.ts";

/**
 * Returns a changed version of the workflow. A step is added or removed, a loop limit differs, or a failure is no
 * longer caught.
 */
export function otherFlow(workflow: Workflow, random: Random): Workflow {
  const changed = structuredClone(workflow);
  const maps = changed.nodes.flatMap((node) => (node.type === "map" ? [node.body] : []));
  const body: Body = random.pick([changed, changed, ...maps]);
  const changes = [lengthen, lengthen, shorten, unbranch, rebound, unrescue];
  random.pick(changes)(body, random);
  return changed;
}

function lengthen(body: Body, random: Random): void {
  const edge = anyOf(
    body.edges.filter(({ max }) => max === undefined),
    random,
  );
  if (!edge) return;
  const id = `n${random.below(3)}`;
  if (body.nodes.some((node) => node.id === id)) return;
  body.nodes.push(action(id, { effects: random.chance(0.5) }));
  body.edges.push({ from: id, to: edge.to });
  edge.to = id;
}

/** Removes an action that has one edge to it and one edge from it. */
function shorten(body: Body, random: Random): void {
  const rescuers = new Set(body.nodes.flatMap((node) => ("onError" in node ? [node.onError] : [])));
  const out = (id: string) => body.edges.filter(({ from }) => from === id);
  const into = (id: string) => body.edges.filter(({ to }) => to === id);
  const isStraight = ({ id, type }: Node) => {
    const before = into(id);
    const isAlone = before.length > 0 && before.every((edge) => edge.max === undefined && out(edge.from).length === 1);
    return type === "action" && !rescuers.has(id) && isAlone && out(id).length === 1;
  };
  const node = anyOf(body.nodes.filter(isStraight), random);
  if (!node) return;
  const [onward] = out(node.id) as [Edge];
  for (const edge of into(node.id)) edge.to = onward.to;
  body.nodes = body.nodes.filter((one) => one !== node);
  body.edges = body.edges.filter((edge) => edge !== onward);
}

/** Removes an action that is a whole branch, if at least two other branches remain. */
function unbranch(body: Body, random: Random): void {
  const isOnly = (edge: Edge, others: readonly Edge[]) => others.filter(({ from }) => from === edge.from).length > 2;
  const branch = anyOf(
    body.nodes.filter(({ id, type }) => {
      const [into, ...more] = body.edges.filter(({ to }) => to === id);
      const isFree = into && more.length === 0 && into.condition === undefined && isOnly(into, body.edges);
      return type === "action" && isFree && body.edges.filter(({ from }) => from === id).length === 1;
    }),
    random,
  );
  if (!branch) return;
  body.nodes = body.nodes.filter((one) => one !== branch);
  body.edges = body.edges.filter(({ from, to }) => from !== branch.id && to !== branch.id);
}

function rebound({ edges }: Body, random: Random): void {
  const edge = anyOf(
    edges.filter(({ max }) => max !== undefined),
    random,
  );
  if (edge) edge.max = 1 + random.below(3);
}

/** Removes the `onError` of a node. */
function unrescue({ nodes }: Body, random: Random): void {
  const node = anyOf(
    nodes.filter((one) => "onError" in one && one.onError !== undefined),
    random,
  );
  if (node && "onError" in node) delete node.onError;
}

function anyOf<T>(items: readonly T[], random: Random): T | undefined {
  return items.length > 0 ? random.pick(items) : undefined;
}
