import { callsOf, type Principal, pageFrom, seenBy, sourceOf } from "@nova/service";
import { parseWorkflow, type Trigger, templateName, type Workflow } from "@nova/workflow";
import { describe, expect, it } from "vitest";
import { inARow } from "../../support/cloud.ts";

describe("what is sent to be published", () => {
  it("is a definition as it was written", () => {
    const text = '{\n "nodes": [],\n "edges": [] }';
    expect(sourceOf(text)).toEqual({ text, fileName: "workflow.json", files: {}, isSent: true });
    expect(sourceOf(text, "invoice").folder).toBe("invoice");
  });

  it("is a definition with the files that it names", () => {
    const definition = '{ "nodes": [ ] }';
    const source = sourceOf(`{"files": {"work.py": "pass"}, "definition": ${definition}}`);
    expect(source).toMatchObject({ text: definition, files: { "work.py": "pass" } });
    expect(sourceOf(`{"definition": ${definition}}`).files).toEqual({});
  });

  it.each(['{"nodes": [], "definition": {}}', '{"definition": "of an invoice"}'])("is no envelope: %s", (text) => {
    expect(sourceOf(text).text).toBe(text);
  });

  it("is named in findings by its lines", () => {
    const { findings } = parseWorkflow(sourceOf('{"definition": {\n "nodes": [],\n "edges": [],\n "timeot": 5 }}'));
    expect(findings.map(({ line }) => line)).toContain(4);
  });
});

describe("what a workflow runs", () => {
  it("is named with the node that runs it", () => {
    const nodes = {
      one: { type: "workflow", workflow: "billing" },
      each: { type: "map", items: "mails", workflow: "reading", version: 2 },
      work: "pass",
    };
    const source = { text: JSON.stringify(inARow("caller", nodes)), fileName: "workflow.json", files: {} };
    const { workflow, findings } = parseWorkflow(source);
    expect(findings.filter(({ severity }) => severity === "error")).toEqual([]);
    expect(callsOf(workflow as Workflow).map(({ workflow: id, version, by }) => [id, version, by])).toEqual([
      ["billing", undefined, "caller"],
      ["reading", 2, "caller"],
    ]);
  });
});

describe("a template", () => {
  it("is the same for the same lines, in whatever order", () => {
    expect(templateName(["b", " a "])).toBe(templateName(["a", "b"]));
    expect(templateName(["a"])).not.toBe(templateName(["a==1"]));
    expect(templateName(["a"])).toMatch(/^nova-[0-9a-f]{12}$/);
  });
});

describe("a page", () => {
  it.each([
    [["a", "b", "c"], 2, { items: ["a", "b"], cursor: "b" }],
    [["a", "b"], 2, { items: ["a", "b"] }],
    [[], 2, { items: [] }],
  ])("of %j with %i at most is %j", (found, limit, page) => {
    expect(pageFrom<string>(found, limit, (text) => text)).toEqual(page);
  });
});

const hook = (id: string, client?: string): Trigger => ({
  id,
  type: "webhook",
  ...(client !== undefined && { client }),
});
const orders = {
  id: "orders",
  onFailure: { mail: ["ops@example.com"] },
  triggers: [hook("shop", "acme"), hook("open", "globex"), hook("ours")],
} as unknown as Workflow;
const by = (client: string | null): Principal => ({ id: "key_1", role: "viewer", client, name: "" });

it("is whole for a key of all clients", () => {
  expect(seenBy(by(null), orders)).toBe(orders);
});

it.each([
  ["acme", ["shop"]],
  ["globex", ["open"]],
])("names to a key of %s no other client's triggers, nor who hears of failures", (client, ids) => {
  const { triggers = [], ...rest } = seenBy(by(client), orders);
  expect([triggers.map(({ id }) => id), rest]).toEqual([ids, { id: "orders" }]);
});

it("has no triggers where none are the client's", () => {
  expect(seenBy(by("initech"), orders)).toEqual({ id: "orders" });
});
