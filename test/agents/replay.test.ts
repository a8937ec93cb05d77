import { describe, expect, it } from "vitest";
import { fails, sets } from "../support/pipeline/node-means.ts";
import { deliver, play, type Scene } from "../support/pipeline/play.ts";

const complex = { role: "input_analyzer", answer: { needs_analysis: true, complexity: "medium" } } as const;
const looks = { role: "data_analyzer", answer: { code: "result = {}" } } as const;
const writes = (code: string) => ({ role: "code_generator", answer: { code } }) as const;
const approves = { role: "output_validator", answer: { valid: true, reason: "done" } } as const;
const rejects = { role: "output_validator", answer: { valid: false, reason: "empty" } } as const;
const found = sets({ _data_analysis: { result: { pages: 1.5 } } });

const stories: [string, Scene][] = [
  [
    "a node that succeeds at the third attempt, after an analysis",
    {
      lines: [complex, looks, writes("bad"), writes("b = 2"), rejects, writes("c = 3"), approves],
      runs: [found, sets({ a: "" }), sets({ a: 1 })],
      check: async (code) =>
        code === "bad" ? [{ code: "PY102", line: 1, column: 1, message: "no", severity: "error" }] : [],
    },
  ],
  [
    "a node that fails after three attempts",
    {
      lines: [complex, looks, ...["a", "b", "c"].map(writes)],
      runs: [found, ...[1, 2, 3].map((n) => fails(`E: ${n}`))],
    },
  ],
  [
    "a decision whose pinned code fails by its own fault",
    {
      pinned: { generation: "g", code: "old" },
      task: { type: "decision" },
      lines: [complex, looks, writes("new"), approves],
      runs: [fails("KeyError: 'x'"), found, sets({ branch_decision: true })],
    },
  ],
  [
    "pinned code that fails after its analysis",
    {
      pinned: { generation: "g", code: "old", analysis: "result = 1" },
      lines: [complex, looks, writes("new"), approves],
      runs: [found, fails("KeyError: 'x'"), found, sets({ a: 1 })],
    },
  ],
  [
    "pinned code whose analysis fails",
    {
      pinned: { generation: "g", code: "old", analysis: "result = 1" },
      lines: [complex, looks, writes("new"), approves],
      runs: [sets({}), found, sets({ a: 1 })],
    },
  ],
  ["a refusal of the model", { lines: [complex, looks, { role: "code_generator", fails: "refused" }], runs: [found] }],
  [
    "a failure of an external service",
    { lines: [complex, looks, writes("x")], runs: [found, fails("RuntimeError: HTTP 503 for the request")] },
  ],
  [
    "a code generator that writes an analysis first",
    {
      lines: [
        { ...complex, answer: { needs_analysis: false, complexity: "simple" } },
        writes("# STAGE: ANALYSIS\nresult = {}"),
        writes("x"),
        approves,
      ],
      runs: [found, sets({ a: 1 })],
    },
  ],
];

describe.each(stories)("the recorded steps for %s", (_, scene) => {
  it("lead to the same result wherever the first delivery ends, and no recorded step is paid for again", async () => {
    const whole = await play(scene);
    const stepCount = whole.means.steps.length;
    for (let cut = 0; cut <= stepCount; cut++) {
      const { means, models } = await play({ ...scene, dieAt: cut });
      // Counts the recorded steps that asked a model. The first delivery may have sent one more request than that, for
      // the step that it could not record. Only this request may be repeated.
      const paid = means.steps.filter(({ model_used }) => model_used !== null).length;
      expect(models.asked.length - paid).toBeLessThanOrEqual(1);
      means.dieAt = Number.POSITIVE_INFINITY;
      const again = await deliver({ ...scene, lines: scene.lines.slice(paid) }, means);
      again.models.finish();
      expect(again.outcome).toEqual(whole.outcome);
      expect(means.steps).toEqual(whole.means.steps);
      expect(means.runs).toHaveLength(whole.means.runs.length);
    }
  });

  it("are reused without a new step if they are complete", async () => {
    const { means, outcome } = await play(scene);
    const again = await deliver({ ...scene, lines: [] }, means);
    expect(again.outcome).toEqual(outcome);
  });
});
