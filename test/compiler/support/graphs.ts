import { type Condition, conditionLabel, type Edge, type Node, type Workflow } from "@nova/workflow";
import fc from "fast-check";
import { action, decision, end, start, workflow } from "./workflows.ts";

/** What one node of a random graph is to be; targets are distances to nodes further on, so that no cycle is made. */
interface Draft {
  conditions: Condition[];
  hasDefault: boolean;
  targets: number[];
  onError: number | null;
}

const condition = fc.oneof(
  fc.constantFrom<Condition>(true, false, "yes", "no", "Ja, bitte", "$.decision", 0, 1, -2.5, 1e21),
  fc.string({ unit: "grapheme", minLength: 1, maxLength: 5 }),
);

const conditions = fc
  .uniqueArray(condition, { maxLength: 4, selector: conditionLabel })
  .map((all) => all.filter((one) => conditionLabel(one) !== "default"));

const draft: fc.Arbitrary<Draft> = fc.record({
  // Half of the nodes are actions: they have no conditions and no default.
  conditions: fc.oneof(fc.constant<Condition[]>([]), conditions),
  hasDefault: fc.boolean(),
  targets: fc.array(fc.nat({ max: 3 }), { minLength: 5, maxLength: 5 }),
  onError: fc.option(fc.nat(), { nil: null }),
});

/** Random valid workflows: one start, one or two ends, all reachable; `onError` may lead anywhere, backwards too. */
export const graphs: fc.Arbitrary<Workflow> = fc
  .tuple(fc.array(draft, { maxLength: 12 }), fc.integer({ min: 1, max: 2 }))
  .map(([drafts, ends]) => reachable(assemble(drafts, ends)));

function assemble(drafts: Draft[], ends: number): Workflow {
  const endIds = Array.from({ length: ends }, (_, index) => `end${index}`);
  const ids = [...drafts.map((_, index) => `n${index}`), ...endIds];
  const edges = drafts.flatMap((one, index) => edgesOf(one, index, ids));
  const nodes = drafts.map((one, index): Node => {
    const target = one.onError === null ? index : one.onError % ids.length;
    const extra = target === index ? {} : { onError: ids[target] as string };
    return one.conditions.length === 0 ? action(`n${index}`, extra) : decision(`n${index}`, extra);
  });
  const whole = workflow([start(), ...nodes, ...endIds.map(end)], [`start -> ${ids[0]}`]);
  return { ...whole, edges: [...whole.edges, ...edges] };
}

function edgesOf(one: Draft, index: number, ids: string[]): Edge[] {
  const from = `n${index}`;
  const target = (nth: number) => ids[Math.min(index + 1 + (one.targets[nth] ?? 0), ids.length - 1)] as string;
  if (one.conditions.length === 0) return [{ from, to: target(0) }];
  const labels = [...one.conditions, ...(one.hasDefault ? ["default"] : [])];
  return labels.map((label, nth) => ({ from, to: target(nth), condition: label }));
}

function reachable(whole: Workflow): Workflow {
  const seen = new Set(["start"]);
  const open = ["start"];
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    const node = whole.nodes.find((one) => one.id === id);
    const onError = node && "onError" in node && node.onError ? [node.onError] : [];
    for (const to of [...whole.edges.filter((one) => one.from === id).map((one) => one.to), ...onError]) {
      if (!seen.has(to)) open.push(to);
      seen.add(to);
    }
  }
  return {
    ...whole,
    nodes: whole.nodes.filter((node) => seen.has(node.id)),
    edges: whole.edges.filter((one) => seen.has(one.from)),
  };
}
