import { checkData, objectOf, parseWorkflow, textOfJson, workflowHash, writeWorkflow } from "@nova/workflow";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { knownFields } from "../../../packages/workflow/src/parse/issues.ts";

const definition = (number: string) => `{
  "id": "w",
  "inputs": {"properties": {"id": {"const": ${number}}}},
  "nodes": [
    {"id": "start", "type": "start"},
    {"id": "ask", "type": "action", "executor": "text", "prompt": "Hello", "output_schema": {"type": "object", "properties": {"n": {"minimum": ${number}}}}},
    {"id": "ok", "type": "approval", "message": "Fine?", "form": {"minimum": ${number}}, "forms": {"not so": {"maximum": ${number}}}, "choices": ["yes", "not so"]},
    {"id": "end", "type": "end"}
  ],
  "edges": [
    {"from": "start", "to": "ask"}, {"from": "ask", "to": "ok"},
    {"from": "ok", "to": "end", "condition": "yes"}, {"from": "ok", "to": "end", "condition": "not so"}
  ]
}`;

function parsed(text: string, files: Record<string, string> = {}) {
  const { workflow, findings } = parseWorkflow({ text, fileName: "workflow.json", files });
  if (!workflow) throw new Error(JSON.stringify(findings));
  return workflow;
}

describe("a JSON schema in a definition", () => {
  it.each(["9007199254740993", "12345678901234567890", "1e-400", "850.0", "7"])(
    "keeps the exact number %s when the workflow is stored, and when it is written and parsed again",
    async (number) => {
      const workflow = parsed(definition(number));
      const stored = JSON.parse(JSON.stringify(workflow)) as typeof workflow;
      expect(stored).toEqual(workflow);
      const [, ask, ok] = stored.nodes;
      if (ask?.type !== "action" || ask.executor.kind !== "text" || ok?.type !== "approval") throw new Error("nodes");
      expect(textOfJson(stored.inputs ?? {})).toContain(`{"const":${number}}`);
      expect(textOfJson(ask.executor.outputSchema ?? {})).toContain(`"minimum":${number}`);
      expect(textOfJson(ok.forms?.["not so"] ?? {})).toBe(`{"maximum":${number}}`);
      expect(await checkData(ok.form ?? {}, number)).toEqual([]);
      const written = writeWorkflow(stored);
      expect(workflowHash(parsed(written.text, written.files))).toBe(workflowHash(workflow));
    },
  );

  it("is parsed into an object, not a text, if JavaScript represents all of its numbers", () => {
    const { inputs = {} } = parsed(definition("7"));
    expect(inputs).toEqual({ type: "object", properties: { id: { const: 7 } } });
    expect(objectOf(inputs)).toBe(inputs);
  });
});

const inner = z.strictObject({ delay: z.number(), deep: z.strictObject({ end: z.string() }).optional() });
const Schema = z.strictObject({
  plain: z.string(),
  maybe: inner.optional(),
  usual: inner.prefault({ delay: 1 }),
  made: z.union([z.string(), inner]).transform(String).describe("Becomes a text.").optional(),
  open: z.record(z.string(), z.json()).optional(),
});

it.each([
  [[], ["plain", "maybe", "usual", "made", "open"]],
  [["plain"], []],
  [["maybe"], ["delay", "deep"]],
  [["usual"], ["delay", "deep"]],
  [["made"], ["delay", "deep"]],
  [["maybe", "deep"], ["end"]],
  [["maybe", "deep", "end"], []],
  [["open", "anything"], []],
  [["nothing"], []],
])("knownFields finds in a schema, at the path %j, the fields %j", (path, fields) => {
  expect(knownFields(Schema, path)).toEqual(fields);
});
