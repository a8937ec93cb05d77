import { describe, expect, it } from "vitest";
import { withoutThoughts } from "../../../packages/agents/src/model/thoughts.ts";

const final = '{"total": 12.1}';
const draft = 'The net is {"total": 10}, and\n```json\n{"total": 11}\n```\nplus tax.';

describe("an answer without thoughts", () => {
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
  ])("loses the text between %s and %s", (open, close) => {
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
  ])("loses the text before a %s without an opening mark", (close) => {
    expect(withoutThoughts(`${draft}${close}${final}`)).toBe(final);
    expect(withoutThoughts(`${draft}${close}more${close}${final}`)).toBe(final);
    expect(withoutThoughts(`${final}${close}`)).toBe("");
  });

  it("loses nested thoughts", () => {
    expect(withoutThoughts(`<think>a<think>b {"total": 1}</think>c {"total": 2}</think>${final}`)).toBe(final);
    expect(withoutThoughts(`<think>first a <think> tag, then</think>${final}`)).toBe(final);
  });

  it("keeps the text after an empty mark", () => {
    expect(withoutThoughts(`<think></think>\n\n${final}`)).toBe(final);
    expect(withoutThoughts(`<think/>${final}`)).toBe(final);
  });

  it("loses channels of gpt-oss without their tokens", () => {
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
  ])("keeps text that only mentions marks: %j", (answer) => {
    expect(withoutThoughts(answer)).toBe(answer);
  });

  it("keeps a mentioned mark after real thoughts", () => {
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
  ])("is found in bounded time in a text of only %j", (sign) => {
    expect(withoutThoughts(sign.repeat(1_000_000 / sign.length)).length).toBeLessThanOrEqual(1_000_000);
  });
});
