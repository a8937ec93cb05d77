import { describe, expect, it } from "vitest";
import { fails, sets } from "../../support/pipeline/node-means.ts";
import { pipelineParts } from "../../support/pipeline/parts.ts";
import { play, type Scene } from "../../support/pipeline/play.ts";

const { knowledge } = pipelineParts();

const simple = { role: "input_analyzer", answer: { needs_analysis: false, complexity: "simple" } } as const;
const writes = (code: string) => ({ role: "code_generator", answer: { code } }) as const;
const approves = { role: "output_validator", answer: { valid: true, reason: "done" } } as const;
const once = { lines: [simple, writes("a = 1"), approves], runs: [sets({ a: 1 })] };

async function generatorPrompt(scene: Partial<Scene>) {
  const { models, means } = await play({ ...once, ...scene });
  const asked = models.asked.find(({ role }) => role === "code_generator");
  if (!asked) throw new TypeError("the generator was not asked");
  const data = JSON.parse(asked.input.replace(/^<data>\n|\n<\/data>$/g, "")) as Record<string, unknown>;
  return { ...asked, data, step: means.steps[1] };
}

describe("the code generator's prompt", () => {
  it("lists the packages, hosts and modules that the code may use", async () => {
    const { data } = await generatorPrompt({
      task: {
        executor: { allow: ["api.acme.example:443"] },
        node: { timeoutSeconds: 60 },
        workflow: { requirements: ["openpyxl>=3"], lib: { "money/dates.py": "", "tax/__init__.py": "", "a.py": "" } },
      },
    });
    expect(data).toMatchObject({
      packages: expect.arrayContaining(["pandas", "openpyxl>=3"]),
      modules: ["money.dates", "tax", "a"],
      network: ["api.acme.example:443"],
      seconds: 60,
    });
  });

  it("has no lists of hosts, modules, Python guides or examples if there are none", async () => {
    const { data } = await generatorPrompt({});
    expect(Object.keys(data)).toEqual(["packages", "seconds", "task", "context"]);
  });

  it("has, after its rules, the Python guides that fit the prompt of the node, the context and the errors", async () => {
    const about: unknown[] = [];
    const guide = { name: "imap", text: "Use imaplib.\n" };
    const guidesFor = (told: unknown) => {
      about.push(told);
      return [guide];
    };
    const { models, kept } = await play({
      ...once,
      lines: [simple, writes("x"), writes("a = 1"), approves],
      runs: [fails("KeyError: 'imap'"), sets({ a: 1 })],
      parts: { knowledge: { ...knowledge, guidesFor } },
    });
    expect(models.asked[1]?.instructions).toMatch(/# imap\nUse imaplib\.$/);
    expect(about.at(-1)).toMatchObject({ errors: ["KeyError: 'imap'"], schema: { total: { type: "integer" } } });
    expect(kept[0]?.guides).toEqual([guide]);
  });

  it("has code of other nodes as examples only in the first attempt", async () => {
    const example = { task: "Give 5 % off", code: "context['d'] = 1" };
    const { models, means } = await play({
      lines: [simple, writes("x"), writes("a = 1"), approves],
      vectors: [{ vector: [1], costUsd: 0 }],
      runs: [fails("KeyError: 'x'"), sets({ a: 1 })],
      parts: { knowledge: { ...knowledge, earlierExamples: async () => [example] } },
    });
    const [, first, second] = models.asked;
    expect(first?.input).toContain("Give 5 % off");
    expect(first?.instructions).toContain("`examples`");
    expect(means.steps[1]?.input_data).toMatchObject({ examples: ["Give 5 % off"] });
    expect(second?.input).not.toContain("Give 5 % off");
    expect(second?.instructions).not.toContain("`examples`");
  });

  it("has the shortened errors and tracebacks of earlier attempts, but the whole code of these attempts", async () => {
    const code = `x = 1\n${"# long\n".repeat(2_000)}`;
    const { models } = await play({
      lines: [simple, writes(code), writes("a = 1"), approves],
      runs: [
        fails(`ValueError: ${"e".repeat(8_000)}`, { traceback: `${"t".repeat(9_000)} where it happened` }),
        sets({ a: 1 }),
      ],
    });
    const { failures } = JSON.parse(models.asked[2]?.input.replace(/<\/?data>/g, "") ?? "");
    expect(failures).toMatchObject([{ attempt: 1, code }]);
    expect(failures[0].error).toHaveLength(2_000);
    expect(failures[0].traceback).toMatch(/^t+ where it happened$/);
    expect(failures[0].traceback).toHaveLength(1_000);
  });

  it("is recorded together with the length of the written code, and with its kind (an analysis, or the code of the node)", async () => {
    const { step } = await generatorPrompt({});
    expect(step).toMatchObject({ output_data: { code_length: 5, stage: "task" }, input_data: { node_type: "action" } });
  });
});
