import { action, decision, defineWorkflow, end, parseWorkflow, start, workflowHash } from "@nova/workflow";
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

it("makes the JSON that is written by hand", () => {
  expect(invoices).toEqual(byHand);
});

it("makes a version that is the same as the one by hand", () => {
  const [built, written] = [invoices, byHand].map((definition) =>
    parseWorkflow({ text: JSON.stringify(definition), fileName: "workflow.json", files: {} }),
  );
  if (!built?.workflow || !written?.workflow) throw new TypeError("both definitions parse");
  expect(workflowHash(built.workflow)).toBe(workflowHash(written.workflow));
});

/** These hold at compile time: `tsc` fails if a line below them compiles. */
describe("does not compile", () => {
  const nodes = { start: start(), read: action({ code: "a = 1" }), end: end() };

  it("an edge to or from a node that is not there", () => {
    // @ts-expect-error "raed" is no node
    defineWorkflow({ nodes, edges: [{ from: "start", to: "raed" }] });
    // @ts-expect-error "strat" is no node
    defineWorkflow({ nodes, edges: [{ from: "strat", to: "read" }] });
    expectTypeOf<Parameters<typeof defineWorkflow<keyof typeof nodes>>[0]["edges"][number]["to"]>().toEqualTypeOf<
      "start" | "read" | "end"
    >();
  });

  it("an onError that names no node", () => {
    // @ts-expect-error "nobody" is no node
    defineWorkflow({ nodes: { start: start(), read: action({ code: "a", onError: "nobody" }) }, edges: [] });
    defineWorkflow({ nodes: { start: start(), read: action({ code: "a", onError: "start" }) }, edges: [] });
  });

  it("a misspelt field, a field of another kind of node, a wrong value", () => {
    // @ts-expect-error timout
    action({ code: "a = 1", timout: 3 });
    // @ts-expect-error a start has no code
    start({ code: "a = 1" });
    // @ts-expect-error seconds are a number
    decision({ code: "a = 1", timeout: "60" });
    // @ts-expect-error workflows have no owner
    defineWorkflow({ nodes, edges: [], owner: "me" });
  });
});
