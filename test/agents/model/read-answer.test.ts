import { describe, expect, it } from "vitest";
import { z } from "zod";
import { readAnswer, readObject, withoutThoughts } from "../../../packages/agents/src/model/read-answer.ts";

describe("the JSON object in the answer of a model", () => {
  it.each([
    ["with nothing before or after it", '{"a": 1}', { a: 1 }],
    ["in a code fence", 'Sure:\n```json\n{"a": 1}\n```\nDone.', { a: 1 }],
    ["before the same object with other spaces and another order", '{"a": 1, "b": 2} {"b":2,"a":1}', { a: 1, b: 2 }],
    ["with braces and quotes in strings", String.raw`{"code": "d = {\"}\": '{'}"}`, { code: `d = {"}": '{'}` }],
    ["with a backslash at a string's end", String.raw`{"path": "C:\\"}`, { path: "C:\\" }],
    ["with objects inside", '{"a": {"b": {}}}', { a: { b: {} } }],
    ["with the text of another object in a string", String.raw`{"a": "{\"b\": 1}"}`, { a: '{"b": 1}' }],
    ["after braces that enclose no JSON", 'the set {1, 2} is {"a": 1}', { a: 1 }],
    ["after a brace that is never closed", '{ well: {"a": 1}', { a: 1 }],
    ["after lists without objects", 'As [1] and [2, 3] say: {"a": 1}', { a: 1 }],
    ["as the only item of a list", '[{"a": 1}]', { a: 1 }],
    ["with a list of objects inside", '{"a": [{"b": 1}, {"b": 2}]}', { a: [{ b: 1 }, { b: 2 }] }],
  ])("is found in an answer that has it %s", (_where, text, expected) => {
    const read = readObject(text);
    expect(read.valid && JSON.parse(read.value)).toEqual(expected);
  });

  it.each(["no", "{", '{"a": ', "[1, 2]", "null", "{".repeat(50_000), '{"'.repeat(50_000), '[{"a":'.repeat(50_000)])(
    "is not found in the answer %#, which contains no whole object",
    (text) => {
      expect(readObject(text)).toEqual({ valid: false, problem: "there is no JSON object in it" });
    },
  );

  it.each([
    ["in a list", '[{"total": 1}, {"total": 2}]', 2],
    ["in lists of lists", '[[{"total": 1}], [{"total": 2}, {"total": 3}]]', 3],
    ["in prose", 'Example: {"total": 1}. Final: {"total": 2}', 2],
    ["in code fences", '```json\n{"total": 1}\n```\n```json\n{"total": 2}\n```', 2],
    ["side by side", '{"total": 1}{"total": 2}', 2],
    [
      "that differ only in digits beyond JavaScript's precision",
      '{"n": 12345678901234567890} {"n": 12345678901234567891}',
      2,
    ],
  ])("is ambiguous if the answer has several different objects: %s", (_where, text, count) => {
    const problem = `it is ambiguous: it has ${count} different JSON objects, and one is wanted`;
    expect(readObject(text)).toEqual({ valid: false, problem, isUnclear: true });
  });

  it.each([500, 100_000])("is refused if it has more levels than a context allows: %i", (levels) => {
    const json = `${'{"a":'.repeat(levels + 1)}1${"}".repeat(levels + 1)}`;
    expect(readObject(json)).toEqual({ valid: false, problem: "its JSON is nested deeper than 500 levels" });
  });

  it("keeps all digits of its numbers", () => {
    expect(readObject('{"a": 12345678901234567890, "b": 850.0}')).toEqual({
      valid: true,
      value: '{"a":12345678901234567890,"b":850.0}',
    });
  });
});

describe("the answer of a model", () => {
  const schema = z.object({ done: z.boolean(), reasons: z.array(z.string()) });

  it("is parsed and checked against its schema", () => {
    expect(readAnswer('{"done": true, "reasons": []}', schema)).toEqual({
      valid: true,
      value: { done: true, reasons: [] },
    });
  });

  it("is refused with every violation of its schema in one line", () => {
    expect(readAnswer('{"done": "yes", "reasons": [1]}', schema)).toEqual({
      valid: false,
      problem:
        "Invalid input: expected boolean, received string at done; Invalid input: expected string, received number at reasons[0]",
    });
  });

  it.each(["", " \n", "\u00a0"])("is reported as empty if it is %j", (text) => {
    expect(readAnswer(text, schema)).toEqual({ valid: false, problem: "it is empty", isUnclear: true });
  });

  it.each(["I cannot.", "null"])("is refused because it contains no JSON object: %j", (text) => {
    expect(readAnswer(text, schema)).toEqual({ valid: false, problem: "there is no JSON object in it" });
  });
});

const final = '{"total": 12.1}';
const draft = 'The net is {"total": 10}, and\n```json\n{"total": 11}\n```\nplus tax.';

describe("the answer of a model, after its thoughts are removed,", () => {
  it.each([
    ["<think>", "</think>"],
    ["<thinking>", "</thinking>"],
    ["<THINK>", "</Think>"],
    ["< think >", "< / think >"],
    ['<think type="draft" n=1>', "</think>"],
    ["<thinking\nlevel='2'>", "</thinking\n>"],
    ["<think>", "</thinking>"],
    ["<thought>", "</thought>"],
    ["<thoughts>", "</thoughts>"],
    ["<reasoning>", "</reasoning>"],
    ["<antThinking>", "</antThinking>"],
    ["<seed:think>", "</seed:think>"],
    ["<thinking_process>", "</thinking_process>"],
    ["<inner_monologue>", "</inner_monologue>"],
    ["<chain-of-thought>", "</chain-of-thought>"],
    ["<scratchpad>", "</scratchpad>"],
    ["<scratch_pad>", "</scratch_pad>"],
    ["<deliberation>", "</deliberation>"],
    ["<cot>", "</cot>"],
    ["<think>", "<\\/think>"],
    ["＜think＞", "＜/think＞"],
    ["&lt;think&gt;", "&lt;/think&gt;"],
    ["<|think|>", "</|think|>"],
    ["[THINK]", "[/THINK]"],
    ["[think]", "[/think]"],
    ["<|think|>", "<|/think|>"],
    ["<|begin_of_thought|>", "<|end_of_thought|>"],
    ["<|START_THINKING|>", "<|END_THINKING|>"],
    ["<｜begin▁of▁thinking｜>", "<｜end▁of▁thinking｜>"],
    ["◁think▷", "◁/think▷"],
    ["<|channel|>analysis<|message|>", "<|end|><|start|>assistant<|channel|>final<|message|>"],
    ["<|channel|>commentary to=all<|message|>", "<|end|><|start|>assistant<|channel|>final <|message|>"],
    ["<|channel>thought\n", "<channel|>"],
    ["```thinking\n", "```\n"],
  ])("does not have the text between %s and %s", (open, close) => {
    const thoughts = draft.replaceAll("`", "'");
    expect(withoutThoughts(`${open}${thoughts}${close}${final}`)).toBe(final);
    expect(withoutThoughts(`\n${open}\n${thoughts}\n${close}\n\nIt is 12.1.\n`)).toBe("It is 12.1.");
    expect(withoutThoughts(`${final}${open}${thoughts}${close}`)).toBe(final);
    expect(withoutThoughts(`${open}${thoughts}${close}${open}more${close}${final}`)).toBe(final);
    expect(withoutThoughts(`${open}${thoughts}`)).toBe("");
    expect(withoutThoughts(`${final}${open}${thoughts}`)).toBe(final);
  });

  it.each([
    "</think>",
    "</THINKING>",
    "</ thought >",
    "[/THINK]",
    "<|end_of_thought|>",
    "◁/think▷",
    "<|END_THINKING|>",
  ])("does not have the text before the closing mark %s, which has no opening mark", (close) => {
    expect(withoutThoughts(`${draft}${close}${final}`)).toBe(final);
    expect(withoutThoughts(`${draft}${close}more${close}${final}`)).toBe(final);
    expect(withoutThoughts(`${final}${close}`)).toBe("");
  });

  it("does not have thoughts that are nested in thoughts", () => {
    expect(withoutThoughts(`<think>a<think>b {"total": 1}</think>c {"total": 2}</think>${final}`)).toBe(final);
    expect(withoutThoughts(`<think>first a <think> tag, then</think>${final}`)).toBe(final);
  });

  it("still has its JSON if the marks before the JSON enclose no thoughts", () => {
    expect(withoutThoughts(`<think></think>\n\n${final}`)).toBe(final);
    expect(withoutThoughts(`<think/>${final}`)).toBe(final);
  });

  it("does not contain the thoughts that gpt-oss writes after the word analysis, even without its special tokens", () => {
    expect(withoutThoughts(`analysisWe add tax to {"total": 10}.assistantfinal${final}`)).toBe(final);
    expect(withoutThoughts(`<|channel|>final<|message|>${final}<|return|>`)).toBe(final);
  });

  it.each([
    '{"html": "<think>"}',
    '{"html": "a <think>b</think> c"}',
    '{"a": {"html": ["</think>", "[THINK]", "<|channel|>analysis"]}}',
    'Here: {"html": "use </thinking> here"} Done.',
    "Write it so:\n```html\n<think>plan</think>\n```\nand close it.",
    "A model writes `<think>` and then `</think>` around its plans.",
    'A model writes "<think>" before and "</think>" after its plans.',
    "We think [1] that reasoning (thought) is <b>good</b>; see [reasoning](https://acme.example).",
    "for x in [thinking_about]: rows[thought] <= 3 and a < think",
    "  kept as it is\n",
    "<thinkpad> and <analysis>kept</analysis>",
    "analysis of the assistant: final",
  ])("still has a text that mentions marks of thoughts without using them: %j", (answer) => {
    expect(withoutThoughts(answer)).toBe(answer);
  });

  it("still has a tag such as <think> if the tag is inside the JSON after the thoughts", () => {
    const answer = '{"html": "<think>x</think>"}';
    expect(withoutThoughts(`<think>I write {"html": "</think>"}</think>${answer}`)).toBe(answer);
    expect(withoutThoughts(`plan {"html": 1}</think>\n${answer}`)).toBe(answer);
  });

  it.each([
    "<think",
    "<think ",
    "`",
    "``` ",
    "[",
    '{"',
    "</think>",
    "<think>",
    "<|channel|>",
    "<\t",
    "◁",
    '"<think>"',
    "&lt;think ",
    "＜think ",
    "</|think",
  ])("is computed in bounded time for a million characters that repeat %j", (sign) => {
    expect(withoutThoughts(sign.repeat(1_000_000 / sign.length)).length).toBeLessThanOrEqual(1_000_000);
  });
});
