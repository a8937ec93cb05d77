import { findNearKey, readCodeKeys } from "@nova/python";
import { describe, expect, it } from "vitest";
import { action, type Loose, parse, row } from "../definition.ts";

const text = (id: string, fields: Loose = { prompt: "Say" }): Loose => ({
  id,
  type: "action",
  executor: "text",
  ...fields,
});
const reader = { readCodeKeys: () => null, findNearKey: () => ({ isSlip: false }) };

function found(prompt: string, more: object = {}, files: Record<string, string> = {}) {
  const outline = text("outline", { name: "My Outline", prompt: "Outline {topic}." });
  const inputs = { properties: { topic: { type: "string" } } };
  const work = text("work", { prompt, ...more });
  const parsed = parse({ ...row(outline, work, action("later")), inputs }, files);
  return [...parsed.findings, ...parsed.keyFindings(reader)];
}

it("a reference in a prompt is accepted if the inputs declare __node_mapping, because the starter of the run then defines the names", () => {
  const inputs = { properties: { __node_mapping: { type: "object" } }, additionalProperties: true };
  const parsed = parse({ ...row(text("work", { prompt: "Edit {My Draft}." })), inputs });
  expect([...parsed.findings, ...parsed.keyFindings(reader)]).toEqual([]);
});

describe("a reference in a prompt", () => {
  it.each([
    "{My Outline}",
    "{outline[2]}",
    "{ my outline }",
    "{start.topic}",
    "{topic}",
    '{"json": {"a": 1}}',
    "\\{nobody}",
  ])("is accepted in the prompt %j, where it names a value or is only text", (prompt) => {
    expect(found(prompt)).toEqual([]);
  });

  it.each([
    ["{My Outlin}", /"work": \{My Outlin\} names no node that runs before it - did you mean "My Outline"\?/],
    ["{nobody}", /names no node that runs before it - name one of "start", "outline"; write \\\{ where/],
    ["{later}", /names "later" \(in the workflow\), which does not run before it/],
    ["{work}", /names "work"/],
  ])("is refused in the prompt %j, where it names no value", (prompt, message) => {
    expect(found(prompt)).toMatchObject([
      { code: "NOVA512", severity: "error", path: "$.nodes[2].prompt", message: expect.stringMatching(message) },
    ]);
  });

  it("to an unknown name causes only a warning if the node marks missing values in its prompt", () => {
    expect(found("{nobody}", { on_missing: "mark" })).toMatchObject([{ code: "NOVA513", severity: "warning" }]);
  });

  it("is checked in a system prompt and in a prompt file, where the finding names the line of the file", () => {
    expect(found("Go", { system: "As {nobody}" })).toMatchObject([{ path: "$.nodes[2].system" }]);
    expect(found("Go", { prompt: undefined, promptFile: "work.md" }, { "work.md": "Dear\n{nobody}\n" })).toMatchObject([
      { path: "$.nodes[2].promptFile", file: "work.md", line: 2, column: 1 },
    ]);
  });
});

it("a node gets a warning if its name equals the name of another node, apart from case and blanks", () => {
  const codes = (name: string) => found("Go", { name }).map(({ code, path }) => `${code} ${path}`);
  expect(codes(" my OUTLINE")).toEqual(["NOVA116 $.nodes[2].name"]);
  expect(codes("Later")).toEqual(["NOVA116 $.nodes[2].name"]);
  expect(codes("Work")).toEqual([]);
});

it.each([
  [{ model: "a", llm_config: { model: "b" } }, "NOVA440 $.nodes[2].llm_config"],
  [{ model: { code_generator: "a" } }, "NOVA440 $.nodes[2].model"],
  [{ model: { provider: "openai", model: "a", temperature: 3 } }, "NOVA104 $.nodes[2].model.temperature"],
  [{ output_schema: { type: "array" } }, "NOVA441 $.nodes[2].output_schema"],
  [{ effects: true }, "NOVA421 $.nodes[2].effects"],
  [{ into: "branch_decision" }, "NOVA502 $.nodes[2].into"],
  [{ executor: "prompt", max_chars: 5 }, "NOVA421 $.nodes[2].max_chars"],
  [{ executor: "prompt", model: { temperature: 1 } }, "NOVA440 $.nodes[2].model"],
])("a text node with the fields %j is refused", (more, expected) => {
  expect(found("Go", more).map(({ code, path }) => `${code} ${path}`)).toEqual([expected]);
});

it.each([
  [{ draft: "outline:output", all: "start" }, []],
  [["content"], []],
  [["nothing"], [/"nothing": no node directly before brings "nothing"/]],
  [{ a: "outlin:output" }, [/there is no node "outlin" before it - did you mean "outline"\?/]],
  [{ a: "outline:none" }, [/node "outline" does not bring "none"/]],
  [{ a: "later" }, [/there is no node "later" before it/]],
])("the field `input_keys` of a text node, written as %j, gets the expected findings", (input_keys, messages) => {
  expect(found("Go", { input_keys })).toMatchObject(
    messages.map((message) => ({ code: "NOVA515", message: expect.stringMatching(message) })),
  );
});

describe("double braces in a prompt", () => {
  const messages = (...given: Parameters<typeof found>) =>
    found(...given).map(({ code, path, message }) => [code, path, message]);
  const prefix = 'node "work": the model reads';

  it.each([
    ["{{mail}}", "{start.mail}"],
    ["{{ mail.subject }}", "{start.mail.subject}"],
    ["{{topic}}", "{topic}"],
    ["{{My Outline}}", "{My Outline}"],
    ["{{start.topic}}", "{start.topic}"],
    ["{{outline[2]}}", "{outline[2]}"],
  ])("cause a finding: instead of %s it suggests %s", (written, cure) => {
    const wayOut = `write ${cure} for a value, or \\{{ where the braces are text`;
    expect(messages(`Sum up: ${written}`)).toEqual([
      ["NOVA516", "$.nodes[2].prompt", `${prefix} ${written} as it is written - ${wayOut}`],
    ]);
    expect(messages("Hello", { system: `You know ${written}.` })).toEqual([
      ["NOVA516", "$.nodes[2].system", `${prefix} ${written} as it is written - ${wayOut}`],
    ]);
  });

  it("cause a finding in a prompt file and in the prompt of a node whose code a model writes", () => {
    const file = found("", { prompt: undefined, promptFile: "work.md" }, { "work.md": "Sum up\n{{mail}}" });
    expect(file).toMatchObject([{ code: "NOVA516", path: "$.nodes[2].promptFile", file: "work.md", line: 2 }]);
    expect(messages("Add up {{lines}}", { executor: "prompt" })).toEqual([
      [
        "NOVA516",
        "$.nodes[2].prompt",
        `${prefix} {{lines}} as it is written - name the key of the context, \`lines\`, and the code that the model writes reads its value`,
      ],
    ]);
  });

  it.each(["\\{{mail}}", '{{"a": 1}}', "{{}}", "{{ }}", "{{1}}", '{"a": {"b": {}}}', "{{% if x %}}"])(
    "cause no finding in %s, where they are only text",
    (text) => {
      expect(found(`Write ${text}`)).toEqual([]);
    },
  );
});

const code = (id: string, source: string) => action(id, { code: source });

function findingsIn(...nodes: Loose[]) {
  const parsed = parse(row(...nodes));
  return [...parsed.findings, ...parsed.keyFindings({ readCodeKeys, findNearKey })];
}

const flattens = code("all", 'import math\ncontext["all"] = outputs.get_flattened()');

it.each([
  [
    [text("a"), text("b"), flattens],
    /line 2: .*"output" is set by "a", "b", and 2 more keys are - use outputs\.get_all/,
  ],
  [
    [code("a", 'context["n"] = 1'), code("b", 'context["n"] = context["n"] + 1'), flattens],
    /"n" is set by "a", "b" - /,
  ],
])("code that calls get_flattened() gets a warning if two earlier nodes set the same key: %j", (nodes, message) => {
  expect(findingsIn(...nodes)).toMatchObject([
    { code: "NOVA514", severity: "warning", path: "$.nodes[3].code", message: expect.stringMatching(message), line: 2 },
  ]);
});

it.each([
  [[text("a"), flattens]],
  [[text("a"), text("b"), code("all", 'context["all"] = outputs.get_all_data()')]],
  [[text("a"), flattens, text("b")]],
  [[text("a"), text("b"), code("all", 'outputs = {}\ncontext["all"] = outputs.get_flattened()')]],
])(
  "code that calls get_flattened() gets no warning if the call loses no result or calls another function: %j",
  (nodes) => {
    expect(findingsIn(...nodes).filter(({ code }) => code === "NOVA514")).toEqual([]);
  },
);
