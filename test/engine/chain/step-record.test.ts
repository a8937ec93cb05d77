import { type CodeResult, parseExact, type StepDraft, type StoredStep } from "@nova/engine";
import { describe, expect, it } from "vitest";
import {
  journalOf,
  noteNumber,
  replayedStep,
  type StepFacts,
  type StepText,
  sealStep,
  stepNumber,
} from "../../../packages/engine/src/chain/step-record.ts";
import { traceStep } from "../../../packages/engine/src/trace/trace-entry.ts";
import frozen from "../../fixtures/formats/steps-1.json" with { type: "json" };
import { agentStep } from "../../support/engine/agent-step.ts";
import { atOnce } from "../../support/engine/scheduler.ts";
import { BlobState } from "../../support/engine/stores.ts";

const home = { client: "c", root: "r" };
const timestamp = "2026-11-22T00:00:00.000Z";

async function sealed(told: Partial<StepDraft>, mask = (text: string) => text, more: Partial<StepFacts> = {}) {
  const blobs = new BlobState().port(atOnce);
  const facts = { journal: 3, number: 1003, timestamp, runTimeMs: 7, blobs: ["ff"], mask, ...more };
  const draft = agentStep("E2BExecutor", 1, told);
  return { ...(await sealStep(draft, facts, home, blobs)), blobs };
}

const whole: Partial<StepDraft> = {
  input_data: { n: 1 },
  output_data: { ok: true },
  generated_code: "x = 1",
  sandbox_id: "S1",
  model_used: "m",
  tokens_input: 5,
  tokens_cached: 2,
  tokens_output: 1,
  cost_usd: 0.01,
  execution_time_ms: 9,
  tool_calls: [{ function: "search_documentation", arguments: { library: "fitz", query: "q" } }],
  logs: "hello",
  prompt: "asked",
  answer: "said",
  result: { status: "success", set: [{ key: "a", json: "12345678901234567890" }], delete: [], logs: "", durationMs: 7 },
};

describe("a recorded step of a prompt node", () => {
  it("is the same when a later delivery reads it, except for the texts that only people read", async () => {
    const { stored, step, blobs } = await sealed(whole);
    const { prompt: _, answer: __, ...rest } = { ...agentStep("E2BExecutor", 1), ...whole };
    expect(step).toEqual({ ...rest, journal: 3, timestamp });
    expect(await replayedStep(3, stored, home, blobs)).toEqual(step);
    expect(stored.step).toBe(1003);
  });

  it("stores large or personal values separately, so that they can be erased, and has only their digests in its text", async () => {
    const { stored } = await sealed({ ...whole, status: "failed", error_message: "no total", traceback: "line 3" });
    const told = JSON.parse(stored.text) as StepText;
    expect(Object.keys(told.digests).sort()).toEqual([
      ...["answer", "code", "error", "input", "logs", "output", "prompt", "result", "tools"],
    ]);
    expect(told).toMatchObject({ run_time_ms: 7, blobs: ["ff"], cost_usd: 0.01 });
    expect(stored.text).not.toContain("no total");
    expect(stored.contents?.error).toEqual({ text: '{"message":"no total","traceback":"line 3"}' });
  });

  it("stores the result of the analysis that ran before pinned code failed", async () => {
    const analysis: CodeResult = { status: "success", set: [], delete: [], logs: "", durationMs: 3 };
    const { stored, step } = await sealed({}, undefined, { analysis });
    expect(stored.contents?.analysis).toEqual({ text: JSON.stringify(analysis) });
    expect(step).not.toHaveProperty("analysis");
  });

  it("stores no separate values for empty fields", async () => {
    const { stored, step } = await sealed({});
    expect(stored.contents).toEqual({});
    expect(step).toMatchObject({ input_data: null, output_data: null, generated_code: null, error_message: null });
  });

  it("keeps all digits of numbers, and masks numbers that contain a secret", async () => {
    const input_data = parseExact('{"lines":[19.50,12345678901234567890],"pin":47110}');
    const { stored } = await sealed({ input_data }, (text) => text.replaceAll("4711", "***"));
    expect(stored.contents?.input).toEqual({ text: '{"lines":[19.50,12345678901234567890],"pin":"***0"}' });
  });

  it("has masked secrets in texts for people, but has its code and result unchanged", async () => {
    const mask = (text: string) => text.replaceAll("4711", "***");
    const { stored } = await sealed(
      {
        input_data: { pin: 4711, list: ["is 4711"], "key 4711": null },
        generated_code: "x = 4711",
        prompt: "4711?",
        logs: "4711",
        status: "failed",
        error_message: "not 4711",
        result: { status: "success", set: [{ key: "a", json: "4711" }], delete: [], logs: "", durationMs: 1 },
      },
      mask,
    );
    const texts = Object.fromEntries(
      Object.entries(stored.contents ?? {}).map(([name, content]) => [name, "text" in content ? content.text : ""]),
    );
    expect(texts).toMatchObject({
      input: '{"pin":"***","list":["is ***"],"key ***":null}',
      prompt: "***?",
      logs: "***",
      error: '{"message":"not ***"}',
      code: "x = 4711",
    });
    expect(texts.result).toContain('"json":"4711"');
  });
});

/** Samples of steps that were stored when format 1 was defined. Never regenerate this file. */
describe("a step that was stored in format 1", () => {
  it.each(frozen.map(({ stored, told }, i) => [i, stored, told] as const))(
    "can be read (sample %i)",
    async (_i, stored, told) => {
      const blobs = new BlobState().port(atOnce);
      expect(await traceStep({ blobs }, stored, home, { full: true })).toEqual(told);
    },
  );
});

const stored = (...numbers: number[]): StoredStep[] => numbers.map((step) => ({ step, text: "{}", hash: `h${step}` }));

it.each([
  ["a turn that has not moved to another sandbox", {}, [1, 2, 3, 4]],
  ["a turn that moved to another sandbox after two steps", { kept: [2] }, [1, 2, 1003, 1004]],
  ["a turn that moved to another sandbox before any step", { kept: [0] }, [1001, 1002, 1003, 1004]],
  ["a turn that moved to another sandbox twice", { kept: [1, 3] }, [1, 1002, 1003, 2004]],
  ["a turn that moved to another sandbox twice after the same step", { kept: [2, 2] }, [1, 2, 2003, 2004]],
])("the journal of a node's steps numbers the steps in each sandbox separately for %s", (_turn, turn, numbers) => {
  expect([1, 2, 3, 4].map((place) => stepNumber(turn, place))).toEqual(numbers);
  expect(journalOf(turn, stored(...numbers)).map(({ step }) => step)).toEqual(numbers);
});

it("the journal of a node's steps leaves out steps that a sandbox recorded after the turn moved to another sandbox", () => {
  expect(journalOf({ kept: [1] }, stored(1, 2, 3, 1002)).map(({ step }) => step)).toEqual([1, 1002]);
});

it("the journal of a node's steps ends before a missing step, and before the record that the models failed", () => {
  expect(journalOf({}, stored(1, 3))).toHaveLength(1);
  const ending = { step: 2, text: '{"format":1,"ends":true,"digests":{}}', hash: "h" };
  expect(journalOf({}, [...stored(1), ending])).toHaveLength(1);
});

it("the journal of a node's steps stores notes under numbers that no step has", () => {
  expect([noteNumber({}, 2), noteNumber({ kept: [1, 1] }, 2)]).toEqual([5002, 7002]);
});
