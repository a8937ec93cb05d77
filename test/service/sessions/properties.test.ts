import { Context, type OutcomeAt } from "@nova/engine";
import { parseWorkflow } from "@nova/workflow";
import fc from "fast-check";
import { expect, it } from "vitest";
import type { Draft, DraftNode, NodeOutcome, SessionState } from "../../../packages/service/src/ports/sessions.ts";
import { contextBefore } from "../../../packages/service/src/sessions/compose.ts";
import {
  sha256Of,
  withChangedNode,
  withEdge,
  withNode,
  withoutEdge,
  withoutNode,
} from "../../../packages/service/src/sessions/draft.ts";
import { sourceOfPart } from "../../../packages/service/src/sessions/part.ts";
import { onePart, type Plan, stalePart } from "../../../packages/service/src/sessions/plan.ts";
import { leadsAlong, shapeOf } from "../../../packages/service/src/sessions/shape.ts";
import {
  type CameTo,
  outcomeId,
  runBases,
  standings,
  withEdit,
  withOutcomes,
} from "../../../packages/service/src/sessions/standing.ts";

/** Enough for chains, diamonds and graphs that do not nest. */
const ids = ["a", "b", "c", "d", "e", "f"];

const id = fc.constantFrom(...ids);
/** Where a session begins: most are graphs of five nodes whose edges lead from earlier to later ones. */
const begun = fc
  .record({
    decides: fc.array(fc.constantFrom(false, false, false, true), { minLength: 5, maxLength: 5 }),
    edges: fc.array(fc.constantFrom(true, false, false), { minLength: 10, maxLength: 10 }),
  })
  .map(({ decides, edges }): Step[] => {
    const first = ids.slice(0, 5);
    const pairs = first.flatMap((from, index) => first.slice(index + 1).map((to) => ({ from, to })));
    return [
      ...first.map((id, index): Step => ({ do: "add", id, decides: decides[index] === true })),
      ...pairs.flatMap(({ from, to }, index): Step[] => (edges[index] ? [{ do: "join", id: from, to }] : [])),
    ];
  });

const step = fc.oneof(
  fc.record({ do: fc.constant("add" as const), id, decides: fc.boolean() }),
  { weight: 3, arbitrary: fc.record({ do: fc.constant("change" as const), id, code: fc.nat(3) }) },
  fc.record({ do: fc.constant("delete" as const), id }),
  fc.record({ do: fc.constant("join" as const), id, to: id }),
  fc.record({ do: fc.constant("cut" as const), id, to: id }),
  fc.record({ do: fc.constant("write" as const), id, value: fc.nat(3) }),
  // Somebody does something while the execution goes on, or nobody does.
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant("run" as const),
      id,
      code: fc.option(fc.nat(3), { freq: 2 }),
      written: fc.constantFrom(false, false, true),
    }),
  },
  fc.record({ do: fc.constant("alone" as const), id }),
);
type Step =
  | { do: "add"; id: string; decides: boolean }
  | { do: "change"; id: string; code: number }
  | { do: "delete" | "alone"; id: string }
  | { do: "join" | "cut"; id: string; to: string }
  | { do: "write"; id: string; value: number }
  | { do: "run"; id: string; code: number | null; written: boolean };

const sequences = fc
  .tuple(begun, fc.array(step, { minLength: 5, maxLength: 25 }))
  .map(([first, rest]) => [...first, ...rest]);

/** Nodes are functions of their code and of all that they find. What one sets nobody else does, so an order cannot hide. */
function made(node: DraftNode, { draft }: Pick<SessionState, "draft">, found: Context): OutcomeAt {
  const seen = found.slots().map(({ key, json }) => [key, json]);
  const digest = sha256Of([node.code, seen.sort()]);
  const labels = draft.edges.filter(({ from }) => from === node.id).map(({ condition }) => String(condition));
  const chosen = labels[Number.parseInt(digest.slice(0, 4), 16) % labels.length] ?? "default";
  const decision = node.type === "decision" ? chosen : null;
  return { set: [{ key: `of_${node.id}`, json: JSON.stringify(digest) }], delete: [], decision };
}

/** A session without a cloud: what an execution would come to is worked out at once. */
class Model {
  state: SessionState = {
    draft: { settings: {}, files: {}, nodes: [], edges: [] },
    context: '{"begin":1}',
    nodes: {},
    runs: [],
    published: [],
    changes: [],
  };
  readonly values = new Map<string, OutcomeAt>();
  /** Runs that took something over. */
  partial = 0;
  /** The last one that was asked for found something to run. */
  began = false;
  #count = 0;

  take(one: Step): void {
    const { draft } = this.state;
    const node = draft.nodes.find((other) => other.id === one.id);
    if (one.do === "add" && !node) this.#add({ id: one.id, type: one.decides ? "decision" : "action", code: "0" });
    if (!node) return;
    if (one.do === "change") this.#change(one.id, one.code);
    if (one.do === "delete") {
      const { [one.id]: _, ...nodes } = this.state.nodes;
      this.state = { ...this.state, draft: withoutNode(draft, one.id), nodes };
    }
    if (one.do === "join") this.#edge(() => withEdge(draft, edgeOf(draft, node, one.to)));
    if (one.do === "cut") this.#edge(() => withoutEdge(draft, { from: one.id, to: one.to }));
    if (one.do === "write") this.#write(one.id, one.value);
    if (one.do === "run") this.#run((stand) => stalePart({ state: this.state }, stand), one);
    if (one.do === "alone") this.#run((stand) => onePart({ state: this.state }, stand, one.id));
  }

  #add(node: DraftNode): void {
    const nodes = { ...this.state.nodes, [node.id]: { version: 1 } };
    this.state = { ...this.state, draft: withNode(this.state.draft, node), nodes };
  }

  #change(id: string, code: number): void {
    const { draft, fields } = withChangedNode(this.state.draft, id, { code: String(code) });
    const record = this.state.nodes[id] ?? { version: 1 };
    if (fields.length === 0) return;
    this.state = {
      ...this.state,
      draft,
      nodes: { ...this.state.nodes, [id]: { ...record, version: record.version + 1 } },
    };
  }

  #edge(change: () => Draft): void {
    try {
      this.state = { ...this.state, draft: change() };
    } catch (error) {
      if (!(error instanceof Error) || !/NotFound|Conflict|Refused/.test(error.name)) throw error;
    }
  }

  #write(id: string, value: number): void {
    const source = { by: "key", at: String(this.#count++), set: JSON.stringify({ [`of_${id}`]: value }) };
    const { nodes, edges } = this.state.draft;
    const labels = edges.filter(({ from }) => from === id).map(({ condition }) => String(condition));
    const isDecision = nodes.some((node) => node.id === id && node.type === "decision");
    const decision = labels[value % labels.length] ?? "default";
    const edit = { source, ...(isDecision && { decision }) };
    this.state = withEdit(this.state, shapeOf(this.state.draft), id, edit);
    this.#keep(this.state.nodes[id]?.outcome as NodeOutcome, [{ key: `of_${id}`, json: String(value) }]);
  }

  #keep({ id, decision }: NodeOutcome, set: OutcomeAt["set"]): void {
    this.values.set(id, { set, delete: [], decision: decision ?? null });
  }

  #run(
    planOf: (stand: Parameters<typeof stalePart>[1]) => Plan | null,
    meanwhile?: { id: string; code: number | null; written: boolean },
  ): void {
    const shape = shapeOf(this.state.draft);
    this.began = false;
    if (!shape.graph) return;
    const all = standings(this.state, shape);
    const plan = planOf({ shape, standings: all, values: this.valuesNow() });
    if (!plan) return;
    this.began = true;
    this.#demandAccepted(plan);
    const others = [...all.keys()].filter((one) => !plan.runs.includes(one));
    const execution = `exec_${this.#count++}`;
    const given = Object.fromEntries(others.map((one) => [one, outcomeId(all.get(one))]));
    const run = { execution, at: "", by: "", nodes: runBases(this.state, shape, plan.runs), given };
    if (plan.reused.length > 0) this.partial++;
    const came = this.#executed(plan, execution);
    this.state = { ...this.state, runs: [run] };
    if (meanwhile?.code != null) this.#change(meanwhile.id, meanwhile.code);
    if (meanwhile?.written) this.#write(meanwhile.id, 9);
    this.state = withOutcomes(this.state, execution, came);
  }

  /** A run reads the part as a workflow, with all that is in front of it. */
  #demandAccepted({ part, given }: Plan): void {
    const source = sourceOfPart(this.state.draft, part, { id: "draft", isRecorded: (one) => given.has(one) });
    const errors = parseWorkflow(source).findings.filter(({ severity }) => severity === "error");
    expect(errors, JSON.stringify(part)).toEqual([]);
  }

  /** What an execution of the part comes to, node by node along the ways that are taken. */
  #executed({ part, runs, context, given }: Plan, execution: string): Map<string, CameTo> {
    const steps = this.state.draft.nodes.filter(({ id }) => part.steps.includes(id));
    const ends = [...new Set(part.edges.map(({ to }) => to))].filter((id) => !part.steps.includes(id));
    const around = [{ ...part.start, type: "start" }, ...ends.map((id) => ({ id, type: "end" }))];
    const shape = shapeOf({ ...this.state.draft, nodes: [...around, ...steps], edges: part.edges });
    expect(shape.graph, JSON.stringify([part, shape.findings])).toBeDefined();
    expect(shape.order).toHaveLength(steps.length);
    const values = new Map(given);
    const came = new Map<string, CameTo>();
    for (const id of shape.order) {
      const node = steps.find((one) => one.id === id) as DraftNode;
      const ways = shape.before.get(id) ?? [];
      const isReached =
        ways.length === 0 ||
        ways.some((way) => {
          const { decision } = values.get(way.from) ?? {};
          return values.has(way.from) && leadsAlong(way, { ...(decision !== null && { decision }) } as NodeOutcome);
        });
      if (!isReached || (given.has(id) && !runs.includes(id))) continue;
      const front = contextBefore(shape.graph as never, id, (one) => values.get(one), context);
      const value = made(node, this.state, front?.context ?? context);
      values.set(id, value);
      const hash = sha256Of([execution, id]);
      came.set(id, {
        id: hash,
        ...(value.decision !== null && { decision: value.decision }),
        source: { execution, scope: "", seq: 1, hash },
      });
      this.values.set(hash, value);
    }
    return came;
  }

  valuesNow(): Map<string, OutcomeAt> {
    const all = Object.entries(this.state.nodes).flatMap(([id, { outcome }]) => {
      const value = outcome && this.values.get(outcome.id);
      return value ? [[id, value] as const] : [];
    });
    return new Map(all);
  }
}

/** Decisions have edges with conditions, others none. */
function edgeOf(draft: Draft, from: DraftNode, to: string) {
  if (from.type !== "decision") return { from: from.id, to };
  const isFirst = !draft.edges.some((edge) => edge.from === from.id);
  return { from: from.id, to, condition: isFirst ? "default" : "yes" };
}

/**
 * The contract without any of the code that is tested, but for how a draft runs: what a run of everything comes to, where
 * an output by hand counts as long as it is fresh. A node finds what all nodes before it on ways that were taken have set.
 */
function everythingAgain(model: Model): Map<string, OutcomeAt> {
  const { draft } = model.state;
  const shape = shapeOf(draft);
  const fresh = standings(model.state, shape);
  const values = new Map<string, OutcomeAt>();
  const seen = new Map<string, Set<string>>();
  for (const id of shape.order) {
    const ways = (shape.before.get(id) ?? []).filter(({ from, on }) => {
      const { decision } = values.get(from) ?? {};
      if (!values.has(from)) return false;
      if (on.kind !== "choice" || decision == null) return true;
      return on.label === decision || (on.label === "default" && !on.others.includes(decision));
    });
    if ((shape.before.get(id) ?? []).length > 0 && ways.length === 0) continue;
    const before = new Set(ways.flatMap(({ from }) => [from, ...(seen.get(from) ?? [])]));
    seen.set(id, before);
    const { outcome, state } = fresh.get(id) ?? {};
    const isByHand = outcome && "set" in outcome.source && state === "fresh";
    const found = new Context().apply(
      { set: [{ key: "begin", json: "1" }, ...[...before].flatMap((one) => values.get(one)?.set ?? [])], delete: [] },
      0,
    );
    const value = isByHand
      ? model.values.get(outcome.id)
      : made(draft.nodes.find((one) => one.id === id) as DraftNode, model.state, found);
    values.set(id, value as OutcomeAt);
  }
  return values;
}

function demandHonest(model: Model): void {
  const again = everythingAgain(model);
  const shape = shapeOf(model.state.draft);
  for (const [id, { state, isSkipped, outcome }] of standings(model.state, shape)) {
    if (state === "stale") continue;
    const kept = isSkipped ? undefined : model.values.get(outcome?.id ?? "");
    expect({ id, set: kept?.set }).toEqual({ id, set: again.get(id)?.set });
  }
}

/** A node that ran alone behind a stale one, in a draft that was a line then, and is none any more. */
const aloneInLine: Step[] = [
  ...["a", "c", "d", "e"].map((id): Step => ({ do: "add", id, decides: false })),
  ...[
    ["a", "c"],
    ["d", "e"],
  ].map(([id = "", to = ""]): Step => ({ do: "join", id, to })),
  { do: "run", id: "a", code: null, written: false },
  { do: "join", id: "a", to: "e" },
  { do: "alone", id: "e" },
  { do: "delete", id: "a" },
];

/** A node that ran alone where no way led to it, and to which one leads now that is not the way of what it found. */
const aloneAside: Step[] = [
  ...["a", "b", "d", "e"].map((id): Step => ({ do: "add", id, decides: false })),
  { do: "add", id: "c", decides: true },
  ...[
    ["a", "b"],
    ["a", "c"],
    ["c", "d"],
    ["c", "e"],
  ].map(([id = "", to = ""]): Step => ({ do: "join", id, to })),
  { do: "write", id: "a", value: 0 },
  { do: "run", id: "a", code: null, written: false },
  { do: "alone", id: "e" },
  { do: "join", id: "a", to: "e" },
];

/** A node that ran alone when one node was before it, and to which ways lead from further away now. */
const aloneBehindOne: Step[] = [
  ...["a", "b", "c", "d", "e"].map((id): Step => ({ do: "add", id, decides: false })),
  ...[
    ["a", "c"],
    ["a", "d"],
    ["b", "c"],
    ["b", "e"],
    ["c", "d"],
    ["c", "e"],
  ].map(([id = "", to = ""]): Step => ({ do: "join", id, to })),
  { do: "run", id: "a", code: null, written: false },
  { do: "delete", id: "c" },
  { do: "alone", id: "e" },
  { do: "join", id: "a", to: "b" },
];

it("never calls an output fresh that running everything again would change", {
  timeout: 120_000,
  tags: ["deep"],
}, () => {
  const seen = { runs: 0, behind: 0, lines: 0 };
  fc.assert(
    fc.property(sequences, (steps) => {
      const model = new Model();
      for (const one of steps) {
        model.take(one);
        demandHonest(model);
      }
      seen.runs += model.partial;
      const shape = shapeOf(model.state.draft);
      if (shape.kind === "line") seen.lines++;
      for (const [one, { state }] of standings(model.state, shape))
        if (state === "fresh" && (shape.before.get(one) ?? []).length > 0) seen.behind++;
    }),
    { numRuns: 1_000, examples: [[aloneInLine], [aloneAside], [aloneBehindOne]] },
  );
  // Sessions in which nothing is ever fresh, or that always run everything, would be honest, too.
  expect(seen.runs).toBeGreaterThan(500);
  expect(seen.behind).toBeGreaterThan(300);
  expect(seen.lines).toBeGreaterThan(20);
});

it("keeps what was written by hand while an execution went on", () => {
  fc.assert(
    fc.property(sequences, id, (steps, written) => {
      const model = new Model();
      for (const one of steps) model.take(one);
      const shape = shapeOf(model.state.draft);
      fc.pre(shape.graph !== undefined && shape.order.includes(written));
      model.take({ do: "run", id: written, code: null, written: true });
      const { source } = model.state.nodes[written]?.outcome ?? {};
      // A run that found everything fresh did not begin, so nothing was written while it went on.
      if (model.began) expect(source).toMatchObject({ by: "key" });
    }),
    { numRuns: 100 },
  );
}, 120_000);

it("leaves everything fresh behind a run that nobody disturbs", () => {
  fc.assert(
    fc.property(sequences, (steps) => {
      const model = new Model();
      for (const one of steps) model.take(one);
      const shape = shapeOf(model.state.draft);
      fc.pre(shape.graph !== undefined && shape.order.length > 0);
      model.take({ do: "run", id: shape.order[0] as string, code: null, written: false });
      const stale = [...standings(model.state, shape)].filter(([, { state }]) => state === "stale");
      expect(stale).toEqual([]);
    }),
    { numRuns: 100 },
  );
}, 120_000);

it("makes a node that was changed and its descendants stale, and nothing else", () => {
  fc.assert(
    fc.property(sequences, id, (steps, changed) => {
      const model = new Model();
      for (const one of steps) model.take(one);
      const shape = shapeOf(model.state.draft);
      fc.pre(shape.graph !== undefined && shape.order.includes(changed));
      model.take({ do: "run", id: changed, code: null, written: false });
      // What no way leads to has no output that could be stale.
      fc.pre(standings(model.state, shape).get(changed)?.isSkipped === false);
      model.take({ do: "change", id: changed, code: 4 });
      const stale = [...standings(model.state, shape)].flatMap(([one, { state }]) => (state === "stale" ? [one] : []));
      const expected = new Set([changed]);
      for (const one of shape.order)
        if ((shape.before.get(one) ?? []).some(({ from }) => expected.has(from))) expected.add(one);
      expect(new Set(stale)).toEqual(expected);
    }),
    { numRuns: 100 },
  );
}, 120_000);
