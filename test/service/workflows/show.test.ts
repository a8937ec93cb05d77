import { callsOf, type Principal, pageFrom, redactWorkflow, sourceOf } from "@nova/service";
import { parseWorkflow, type Trigger, templateName, type Workflow } from "@nova/workflow";
import { describe, expect, it } from "vitest";
import { inARow } from "../../support/cloud.ts";

describe("the body of a publish request", () => {
  it("may be a definition, whose text is kept", () => {
    const text = '{\n "nodes": [],\n "edges": [] }';
    expect(sourceOf(text)).toEqual({ text, fileName: "workflow.json", files: {}, isSent: true });
    expect(sourceOf(text, "invoice").folder).toBe("invoice");
  });

  it("may be a definition with the files that it names", () => {
    const definition = '{ "nodes": [ ] }';
    const source = sourceOf(`{"files": {"work.py": "pass"}, "definition": ${definition}}`);
    expect(source).toMatchObject({ text: definition, files: { "work.py": "pass" } });
    expect(sourceOf(`{"definition": ${definition}}`).files).toEqual({});
  });

  it.each(['{"nodes": [], "definition": {}}', '{"definition": "of an invoice"}'])(
    "is read as a definition, not as an envelope: %s",
    (text) => {
      expect(sourceOf(text).text).toBe(text);
    },
  );

  it("has its own lines in findings", () => {
    const { findings } = parseWorkflow(sourceOf('{"definition": {\n "nodes": [],\n "edges": [],\n "timeot": 5 }}'));
    expect(findings.map(({ line }) => line)).toContain(4);
  });
});

describe("the calls of a workflow", () => {
  it("are listed with the nodes that make them", () => {
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
  it("is the same for the same lines in any order", () => {
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
  ])("of %j with at most %i items is %j", (found, limit, page) => {
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

it("a definition is whole for a key of all clients", () => {
  expect(redactWorkflow(by(null), orders)).toBe(orders);
});

it.each([
  ["acme", ["shop"]],
  ["globex", ["open"]],
])("a definition hides triggers of other clients and recipients of failures from a key of %s", (client, ids) => {
  const { triggers = [], ...rest } = redactWorkflow(by(client), orders);
  expect([triggers.map(({ id }) => id), rest]).toEqual([ids, { id: "orders" }]);
});

it("a definition shows no triggers if none belongs to the client", () => {
  expect(redactWorkflow(by("initech"), orders)).toEqual({ id: "orders" });
});
