import { describe, expect, it } from "vitest";
import { stageOf, withoutFence } from "../../../packages/agents/src/agents/written-code.ts";

describe("withoutFence", () => {
  it.each([
    ["a = 1\n", "a = 1\n"],
    ["```python\na = 1\n```", "a = 1"],
    ["\n```py\r\na = 1\r\n```\n", "a = 1"],
    ["```\na = 1\nb = 2\n```", "a = 1\nb = 2"],
    ['text = """\n```\n"""', 'text = """\n```\n"""'],
    ["Here it is:\n```python\na = 1\n```", "Here it is:\n```python\na = 1\n```"],
  ])("reads %j", (text, code) => {
    expect(withoutFence(text)).toBe(code);
  });
});

describe("stageOf", () => {
  it.each([
    ["# STAGE: ANALYSIS\nresult = {}", "analysis"],
    ["import json\n  # stage: analysis", "analysis"],
    ["# STAGE: TASK\na = 1", "task"],
    ["# STAGE: TASK\n# after # STAGE: ANALYSIS", "task"],
    ["a = 1", "task"],
    ['a = "# STAGE: ANALYSIS"', "task"],
    ["# STAGE: ANALYSIST", "task"],
  ])("reads %j", (code, stage) => {
    expect(stageOf(code)).toBe(stage);
  });
});
