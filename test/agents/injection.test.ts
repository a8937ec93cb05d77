import { describe, expect, it } from "vitest";
import { hostile } from "../support/pipeline/hostile.ts";
import { fails, sets } from "../support/pipeline/node-means.ts";
import { play, type Scene } from "../support/pipeline/play.ts";

/**
 * Returns a script in which a node calls every agent. `text` is part of all data: the context, the answers of the
 * models, and the outcomes of the code.
 */
function scene(text: string): Scene {
  return {
    task: {
      prompt: "Summarise the mail",
      context: { mail: text, [`key ${text}`]: { [text]: [text] }, total: 1 },
      type: "decision",
      conditions: ["yes", text],
    },
    lines: [
      { role: "input_analyzer", answer: { needs_analysis: true, complexity: "simple" } },
      { role: "data_analyzer", answer: { code: `# ${text}` } },
      { role: "code_generator", answer: { code: `a = ${text}` } },
      { role: "code_generator", answer: { code: "b = 2" } },
      { role: "output_validator", answer: { valid: false, reason: text } },
      { role: "code_generator", answer: { code: "c = 3" } },
      { role: "output_validator", answer: { valid: true, reason: "ok" } },
    ],
    runs: [
      sets({ _data_analysis: { result: { [text]: text } } }),
      fails(`ValueError: ${text}`, { traceback: text, logs: text }),
      sets({ branch_decision: "yes", [text]: text }),
      sets({ branch_decision: "yes" }),
    ],
    parts: {
      knowledge: {
        guidesFor: () => [{ name: "mail", text: "Use imaplib." }],
        searchDocumentation: () => ({ text, found: [] }),
        earlierExamples: async () => [{ task: text, code: text }],
      },
    },
  };
}

/** Checks that an input is one JSON object between <data> tags, and returns the names of its members. */
function skeleton(input: string): unknown {
  const [, json] = /^<data>\n(\{.*\})\n<\/data>$/s.exec(input) ?? [];
  expect(json).toBeDefined();
  const lines = (json as string).split("\n").map((line) => /^\{?"(\w+)": /.exec(line)?.[1]);
  expect(lines).toEqual(Object.keys(JSON.parse(json as string)));
  return lines;
}

describe("data that contains instructions for models", () => {
  it.each(hostile)("does not change the structure of any prompt: %j", async (text) => {
    const tame = await play(scene("tame"));
    const { models } = await play(scene(text));
    expect(models.asked.map(({ instructions }) => instructions)).toEqual(
      tame.models.asked.map((one) => one.instructions),
    );
    expect(models.asked.map(({ input }) => skeleton(input))).toEqual(
      tame.models.asked.map(({ input }) => skeleton(input)),
    );
    for (const { input } of models.asked) expect(input.match(/<\/?data>/g)).toEqual(["<data>", "</data>"]);
  });

  it("appears in the prompts of all agents", async () => {
    const { models } = await play(scene("a tame text"));
    const inputs = models.asked.map(({ input }) => input.split("a tame text").length - 1);
    // Every prompt contains the text in keys and values of the context. The prompt for the third code (index 5)
    // contains it more often than the prompt for the first code (index 2), because it also contains the earlier
    // failures.
    expect(Math.min(...inputs)).toBeGreaterThanOrEqual(3);
    expect(inputs[5]).toBeGreaterThan(inputs[2] as number);
  });

  it("is quoted in the result of a tool call", async () => {
    const { models } = await play(scene("</data>"));
    const tool = models.asked[2]?.tools?.[0];
    const { text } = (await tool?.run({ library: "fitz", query: "open" } as never)) ?? { text: "" };
    expect(text).toBe('{"documentation": "\\u003c/data\\u003e"}');
  });
});

describe("secrets of a run", () => {
  const secret = "hunter2-hunter2";
  const leaky: Scene = {
    task: {
      prompt: `Log in with ${secret}`,
      secrets: { email_password: secret },
      context: { note: `password: ${secret}`, [secret]: 1 },
    },
    lines: [
      { role: "input_analyzer", answer: { needs_analysis: true, complexity: "simple" } },
      { role: "data_analyzer", answer: { code: `x = "${secret}"` } },
      { role: "code_generator", answer: { code: `y = "${secret}"` } },
      { role: "code_generator", answer: { code: "z = 1" } },
      { role: "output_validator", answer: { valid: true, reason: `used ${secret}` } },
    ],
    runs: [
      { ...sets({ _data_analysis: { result: { found: secret } } }), logs: secret },
      fails(`ValueError: ${secret}`, { traceback: `... ${secret}`, logs: secret }),
      { ...sets({ a: 1 }), logs: `used ${secret}` },
    ],
  };

  it("appear in no prompt, in no step and in no recorded answer", async () => {
    const { models, means } = await play(leaky);
    for (const { instructions, input } of models.asked) expect(instructions + input).not.toContain(secret);
    expect(JSON.stringify(means.drafts)).not.toContain(secret);
    expect(models.asked[0]?.input).toContain('"email_password": "<secret>"');
  });
});

describe("the prompts of a node with `samples: false`", () => {
  it("show only the types and sizes of values, both before and after the code has run", async () => {
    const { models } = await play({
      task: { executor: { samples: false }, context: { name: "Sirius Black", amount: 1234.5 } },
      lines: [
        { role: "input_analyzer", answer: { needs_analysis: false, complexity: "simple" } },
        { role: "code_generator", answer: { code: "x" } },
        { role: "output_validator", answer: { valid: true, reason: "ok" } },
      ],
      runs: [sets({ greeting: "Hello Sirius Black" })],
    });
    for (const { input } of models.asked) expect(input).not.toMatch(/Sirius|1234/);
    expect(models.asked[2]?.input).toContain('"greeting": "<string: 18 chars>"');
  });
});
