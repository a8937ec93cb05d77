import { conditionLabel, type IndexedNode } from "@nova/workflow";
import fc from "fast-check";

/**
 * The fate of one entry. `pick` chooses the decision of the node among the possible decisions, or the number of items
 * if the node is a map.
 */
export interface Fate {
  /**
   * `fails`: the node fails. `unseen`: the node succeeds, but its Lambda dies in every attempt before it answers.
   * `unsettled`: the Lambda of the settle task also dies in every attempt. `flaky`: the Lambda of the node dies once.
   * `closed`: the Lambda of the node reports that the run is closed. `expires`: the approval or wait gets no answer.
   * `late`: it gets an answer, but the answer does not reach Step Functions.
   */
  kind: "succeeds" | "fails" | "unseen" | "unsettled" | "flaky" | "closed" | "expires" | "late";
  pick: number;
}

/** From this entry number on, every entry of a scope succeeds, so that no cycle of onError edges runs for ever. */
const lastFate = 6;

/**
 * Returns the fate of an entry. The fate depends only on the scope and the number of the entry, so it is the same
 * however fast the branches are.
 */
export type Fates = (scope: string, seq: number) => Fate;

const fate: fc.Arbitrary<Fate> = fc.record({
  kind: fc.oneof(
    { weight: 35, arbitrary: fc.constant("succeeds" as const) },
    { weight: 20, arbitrary: fc.constantFrom("unseen" as const, "flaky" as const, "late" as const) },
    // This fate is frequent, because only approvals and event waits can expire. Other nodes with this fate succeed.
    { weight: 30, arbitrary: fc.constant("expires" as const) },
    { weight: 10, arbitrary: fc.constant("fails" as const) },
    { weight: 3, arbitrary: fc.constant("unsettled" as const) },
    { weight: 2, arbitrary: fc.constant("closed" as const) },
  ),
  pick: fc.nat({ max: 5 }),
});

export const fates: fc.Arbitrary<Fates> = fc.array(fate, { minLength: 1, maxLength: 24 }).map((list) => {
  return (scope, seq) => {
    const chosen = list[hash(`${scope}#${seq}`) % list.length] as Fate;
    const links = [seq, ...Array.from(scope.matchAll(/@(\d+)\./g), ([, link]) => Number(link))];
    return links.some((link) => link > lastFate) ? { kind: "succeeds", pick: 0 } : chosen;
  };
});

function hash(text: string): number {
  let sum = 7;
  for (const character of text) sum = (Math.imul(sum, 31) + character.charCodeAt(0)) >>> 0;
  return sum;
}

/** The outcome in the entry of a node: the class of its failure, or its decision after a success. */
export type Outcome = { failed: string } | { failed: null; decision: string | null };

export function outcomeOf({ node, edges }: IndexedNode, { kind, pick }: Fate): Outcome {
  if (kind === "fails") return { failed: "NodeFailed" };
  const labels = edges.map((edge) => conditionLabel(edge.condition));
  if (kind === "expires" && (node.type === "approval" || isEvent(node))) {
    const way = labels.some((label) => label === "timeout" || (node.type === "approval" && label === "default"));
    return node.type === "approval" && way ? { failed: null, decision: "timeout" } : { failed: "NodeTimeout" };
  }
  const decisions =
    node.type === "decision" ? [...labels, "fits none"] : node.type === "approval" ? node.choices : [null];
  return { failed: null, decision: decisions[pick % decisions.length] ?? null };
}

export function isEvent(node: IndexedNode["node"]): boolean {
  return node.type === "wait" && node.for.kind === "event";
}

export const maxItems = 3;

export function itemCount({ pick }: Fate): number {
  return pick % (maxItems + 1);
}
