import { execFileSync } from "node:child_process";
import {
  action,
  approval,
  decision,
  defineWorkflow,
  end,
  map,
  parseWorkflow,
  start,
  wait,
  workflow,
  workflowHash,
} from "@nova/workflow";
import { shellWord } from "@nova/workflow/shell-word";
import { describe, expect, expectTypeOf, it } from "vitest";

const invoices = defineWorkflow({
  name: "Invoices",
  timeout: 3600,
  nodes: {
    start: start(),
    has_pdf: decision({ code: 'context["branch_decision"] = "pdf" in context' }),
    extract: action({ code: 'context["total"] = 1', onError: "report", effects: false, retry: { attempts: 2 } }),
    report: action({ code: 'context["reported"] = True', timeout: 30 }),
    end: end({ name: "Done" }),
  },
  edges: [
    { from: "start", to: "has_pdf" },
    { from: "has_pdf", to: "extract", condition: true },
    { from: "has_pdf", to: "report", condition: "default" },
    { from: "extract", to: "end" },
    { from: "report", to: "end" },
  ],
});

it("the workflow builder makes a text node if a node with a prompt has the executor `text`", () => {
  const { nodes } = defineWorkflow({
    nodes: {
      a: action({ executor: "text", prompt: "Say {start}", llm_config: { model: "m", temperature: 0 } }),
      b: action({ prompt: "Add up" }),
    },
    edges: [],
  });
  expect(nodes).toEqual([
    { id: "a", type: "action", executor: "text", prompt: "Say {start}", llm_config: { model: "m", temperature: 0 } },
    { id: "b", type: "action", executor: "prompt", prompt: "Add up" },
  ]);
});

const byHand = {
  name: "Invoices",
  timeout: 3600,
  nodes: [
    { id: "start", type: "start" },
    { id: "has_pdf", type: "decision", code: 'context["branch_decision"] = "pdf" in context' },
    {
      id: "extract",
      type: "action",
      code: 'context["total"] = 1',
      onError: "report",
      effects: false,
      retry: { attempts: 2 },
    },
    { id: "report", type: "action", code: 'context["reported"] = True', timeout: 30 },
    { id: "end", type: "end", name: "Done" },
  ],
  edges: [
    { from: "start", to: "has_pdf" },
    { from: "has_pdf", to: "extract", condition: true },
    { from: "has_pdf", to: "report", condition: "default" },
    { from: "extract", to: "end" },
    { from: "report", to: "end" },
  ],
};

it("the workflow builder makes the same JSON as the hand-written definition", () => {
  expect(invoices).toEqual(byHand);
});

it("the workflow builder makes a workflow with the same hash as the hand-written definition", () => {
  const [built, written] = [invoices, byHand].map((definition) =>
    parseWorkflow({ text: JSON.stringify(definition), fileName: "workflow.json", files: {} }),
  );
  if (!built?.workflow || !written?.workflow) throw new TypeError("both definitions parse");
  expect(workflowHash(built.workflow)).toBe(workflowHash(written.workflow));
});

it("the workflow builder makes maps (with a list of nodes), approvals, waits and branches", () => {
  const batch = defineWorkflow({
    name: "Batch",
    nodes: {
      start: start({ merge: "collect" }),
      each: map({
        items: "mails",
        max_concurrency: 3,
        tolerated_failures: "10%",
        nodes: { read: action({ code: "a = 1", onError: "skip" }), skip: action({ code: "b = 1" }) },
        edges: [{ from: "read", to: "skip" }],
        onError: "ask",
      }),
      pause: wait({ seconds: "15m" }),
      ask: approval({ message: "Send {{results}}?", choices: ["yes"], timeout: "3d", onError: "end" }),
      end: end(),
    },
    edges: [
      { from: "start", to: "each" },
      { from: "start", to: "pause" },
      { from: "each", to: "ask" },
      { from: "pause", to: "ask" },
      { from: "ask", to: "end", condition: "yes" },
    ],
  });
  expect(batch.nodes[1]).toEqual({
    id: "each",
    type: "map",
    items: "mails",
    max_concurrency: 3,
    tolerated_failures: "10%",
    nodes: [
      { id: "read", type: "action", code: "a = 1", onError: "skip" },
      { id: "skip", type: "action", code: "b = 1" },
    ],
    edges: [{ from: "read", to: "skip" }],
    onError: "ask",
  });
  const { findings } = parseWorkflow({ text: JSON.stringify(batch), fileName: "workflow.json", files: {} });
  expect(findings.map(({ code }) => code)).toEqual([]);
});

it("the workflow builder makes nodes and maps that run other workflows", () => {
  const fields = { workflow: "billing", output: { total: "total" } };
  const nodes = {
    start: start(),
    bill: workflow({ ...fields, version: 2, onError: "end" }),
    each: map({ items: "mails", ...fields }),
    end: end(),
  };
  const made = defineWorkflow({
    name: "Bills",
    nodes,
    edges: [
      { from: "start", to: "bill" },
      { from: "bill", to: "each" },
      { from: "each", to: "end" },
    ],
  });
  expect(made.nodes.slice(1, 3)).toEqual([
    { id: "bill", type: "workflow", ...fields, version: 2, onError: "end" },
    { id: "each", type: "map", items: "mails", ...fields },
  ]);
  const { findings } = parseWorkflow({ text: JSON.stringify(made), fileName: "workflow.json", files: {} });
  expect(findings).toEqual([]);
});

it("the workflow builder makes a prompt node if a node has a prompt and names no other executor", () => {
  expect(action({ prompt: "Read." })).toEqual({ type: "action", executor: "prompt", prompt: "Read." });
  expect(decision({ promptFile: "choose.md" })).toMatchObject({ type: "decision", executor: "prompt" });
  expect(action({ prompt: "Read.", executor: "cached" })).toMatchObject({ executor: "cached" });
  expect(action({ code: "a = 1" })).toEqual({ type: "action", code: "a = 1" });
});

it("the workflow builder makes workflows with models, limits and hosts for all prompt nodes", () => {
  const made = defineWorkflow({
    name: "Mails",
    model: { code_generator: "gpt-5.1" },
    limits: { max_cost_usd: 2 },
    ai: { samples: false },
    network: { allow: ["rates.example.com:443"] },
    credentials: ["rates"],
    approval: "required",
    scope: "client",
    nodes: { start: start(), read: action({ prompt: "Read.", limits: { max_cost_usd: 0.5 } }), end: end() },
    edges: [
      { from: "start", to: "read" },
      { from: "read", to: "end" },
    ],
  });
  const { workflow: parsed, findings } = parseWorkflow({ text: JSON.stringify(made), fileName: "w.json", files: {} });
  expect(findings).toEqual([]);
  expect(parsed?.nodes[1]).toMatchObject({
    executor: { kind: "prompt", maxCostUsd: 0.5, samples: false, allow: ["rates.example.com:443"] },
  });
  expect(parsed?.credentials).toEqual(["rates"]);
});

it("the workflow builder makes loop edges with a `max`, and refuses loop edges to nodes that do not exist", () => {
  const { edges } = defineWorkflow({
    name: "Loop",
    nodes: { start: start(), ask: action({ code: "a = 1" }), check: decision({ code: "b = 1" }), end: end() },
    edges: [
      { from: "check", to: "ask", condition: "again", max: 3 },
      // @ts-expect-error "nobody" is no node
      { from: "check", to: "nobody", condition: "again", max: 3 },
    ],
  });
  expect(edges[0]).toEqual({ from: "check", to: "ask", condition: "again", max: 3 });
});

/** `tsc` checks these tests: it fails if the line after a `@ts-expect-error` compiles. */
describe("the types of the workflow builder refuse", () => {
  const nodes = { start: start(), read: action({ code: "a = 1" }), end: end() };

  it("an edge to or from a node that does not exist", () => {
    // @ts-expect-error "raed" is no node
    defineWorkflow({ nodes, edges: [{ from: "start", to: "raed" }] });
    // @ts-expect-error "strat" is no node
    defineWorkflow({ nodes, edges: [{ from: "strat", to: "read" }] });
    expectTypeOf<Parameters<typeof defineWorkflow<keyof typeof nodes>>[0]["edges"][number]["to"]>().toEqualTypeOf<
      "start" | "read" | "end"
    >();
  });

  it("an onError to a node that does not exist", () => {
    // @ts-expect-error "nobody" is no node
    defineWorkflow({ nodes: { start: start(), read: action({ code: "a", onError: "nobody" }) }, edges: [] });
    defineWorkflow({ nodes: { start: start(), read: action({ code: "a", onError: "start" }) }, edges: [] });
  });

  it("an edge and an onError that cross the border of a map", () => {
    const body = { read: action({ code: "a = 1" }), check: action({ code: "b = 1" }) };
    // @ts-expect-error "end" is no node of the map
    map({ items: "mails", nodes: body, edges: [{ from: "read", to: "end" }] });
    // @ts-expect-error "chekc" is no node
    map({ items: "mails", nodes: { ...body, more: action({ code: "a", onError: "chekc" }) }, edges: [] });
    const each = map({ items: "mails", nodes: body, edges: [{ from: "read", to: "check" }] });
    // @ts-expect-error "read" is a node of the map only
    defineWorkflow({ nodes: { start: start(), each, end: end() }, edges: [{ from: "each", to: "read" }] });
    const failing = map({ items: "mails", nodes: body, edges: [], onError: "read" });
    // @ts-expect-error "read" is a node of the map only
    defineWorkflow({ nodes: { start: start(), failing, end: end() }, edges: [] });
  });

  it("a misspelt field, a field of another kind of node, and a wrong value", () => {
    // @ts-expect-error "timout" is no field
    action({ code: "a = 1", timout: 3 });
    // @ts-expect-error a start has no code
    start({ code: "a = 1" });
    // @ts-expect-error a timeout is a number
    decision({ code: "a = 1", timeout: "60" });
    // @ts-expect-error "merge" is no field of a decision
    decision({ code: "a = 1", merge: "last" });
    // @ts-expect-error "generator" is no role of a model
    action({ prompt: "Read.", model: { generator: "gpt" } });
    // @ts-expect-error a map needs "items"
    map({ nodes: {}, edges: [] });
    // @ts-expect-error a workflow node needs "workflow"
    workflow({ version: 2 });
    // @ts-expect-error an approval needs "message"
    approval({ choices: ["yes"] });
    // @ts-expect-error "owner" is no field of a workflow
    defineWorkflow({ nodes, edges: [], owner: "me" });
  });
});

it.each(["exec_01M8", "greeting-a1b2c3", "./flows/a.json", "n=1"])(
  "shellWord leaves the word %s without quotes, because it needs none",
  (text) => {
    expect(shellWord(text)).toBe(text);
  },
);

it("shellWord quotes a word with special characters so that a shell reads the word unchanged", () => {
  const texts = ["a b", "it's", "$HOME", "`id`", "a;b", '"', "", "~x", "*", "!1", "#", "a\nb", "größe"];
  const printed = execFileSync("sh", ["-c", `printf '%s\\0' ${texts.map(shellWord).join(" ")}`], { encoding: "utf8" });
  expect(printed.split("\0").slice(0, -1)).toEqual(texts);
});
