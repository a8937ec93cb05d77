import { RawJson } from "@nova/engine";
import { expect, it } from "vitest";
import { parseAnswer } from "../../../packages/mcp/src/exact-client.ts";

const exact = '{"n":12345678901234567890,"x":850.0}';

it.each([
  [
    "an execution's context",
    `{"status":"completed","context":${exact}}`,
    { status: "completed", context: new RawJson(exact) },
  ],
  [
    "the changes of an entry in a list",
    `{"items":[{"seq":1,"changes":{"set":${exact},"delete":[]}}],"next_cursor":null}`,
    { items: [{ seq: 1, changes: { set: new RawJson(exact), delete: [] } }], next_cursor: null },
  ],
  [
    "contexts in branches",
    `{"items":[{"branches":[{"branch":"0","entries":[{"input_context":${exact},"output_result":null}]}]}]}`,
    { items: [{ branches: [{ branch: "0", entries: [{ input_context: new RawJson(exact), output_result: null }] }] }] },
  ],
  [
    "contexts of a workflow that a node ran",
    `{"child":{"execution_id":"e","entries":[{"changes":{"set":{}}}]}}`,
    { child: { execution_id: "e", entries: [{ changes: { set: new RawJson("{}") } }] } },
  ],
  ["a list of any values", "[1,2]", [1, 2]],
])("parseAnswer keeps %s exactly as sent, and parses the rest", (_what, text, expected) => {
  expect(parseAnswer(text)).toEqual(expected);
});

it("parseAnswer refuses text that is not JSON", () => {
  expect(() => parseAnswer("<html>")).toThrow(SyntaxError);
});
