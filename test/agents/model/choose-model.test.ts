import type { ModelChoice, ModelRole } from "@nova/workflow";
import { describe, expect, it } from "vitest";
import { requireModel } from "../../../packages/agents/src/model/choose-model.ts";
import { ModelError } from "../../../packages/agents/src/model/model-error.ts";

const now = Date.parse("2026-11-22T12:00:00Z");

interface Case {
  because: string;
  role?: ModelRole;
  node?: ModelChoice;
  workflow?: ModelChoice;
  fallback?: string;
  model: string;
}

const cases: Case[] = [
  { because: "nobody names one", model: "gpt-6.1-terra" },
  { because: "each role has its own default", role: "input_analyzer", model: "gpt-6-luna" },
  { because: "DEFAULT_MODEL is set", fallback: "mine", model: "mine" },
  { because: "an empty DEFAULT_MODEL is none", fallback: "", model: "gpt-6.1-terra" },
  { because: "the workflow goes before DEFAULT_MODEL", workflow: { default: "flow" }, fallback: "mine", model: "flow" },
  {
    because: "the node goes before the workflow",
    node: { default: "node" },
    workflow: { default: "flow" },
    model: "node",
  },
  { because: "a role goes before the default", node: { default: "node", code_generator: "writer" }, model: "writer" },
  {
    because: "a node's default goes before a workflow's role",
    node: { default: "node" },
    workflow: { code_generator: "writer" },
    model: "node",
  },
  {
    because: "other roles do not matter",
    node: { output_validator: "judge" },
    workflow: { default: "flow" },
    model: "flow",
  },
];

function failure(choose: () => string): ModelError {
  try {
    choose();
  } catch (error) {
    expect(error).toBeInstanceOf(ModelError);
    return error as ModelError;
  }
  return expect.unreachable("the model was accepted");
}

describe("the model of a role", () => {
  it.each(cases)("is $model: $because", ({ role = "code_generator", node, workflow, fallback, model }) => {
    expect(requireModel(role, node, workflow, fallback, now)).toBe(model);
  });

  it("is refused after its retirement, and the error names its successor", () => {
    const error = failure(() =>
      requireModel("data_analyzer", { data_analyzer: "gpt-4-turbo" }, undefined, undefined, now),
    );
    expect(error.reason).toBe("retired");
    expect(error.message).toBe(
      'model "gpt-4-turbo" of the data_analyzer was retired on 2026-10-23 - name its successor "gpt-6.1-sol" in the node\'s or workflow\'s model, or in DEFAULT_MODEL',
    );
  });

  it.each([
    ["the workflow", [undefined, { default: "gpt-4" }, undefined]],
    ["DEFAULT_MODEL", [undefined, undefined, "gpt-4"]],
  ] as const)("is refused in every place of the choice: %s", (_who, [node, workflow, fallback]) => {
    expect(failure(() => requireModel("code_generator", node, workflow, fallback, now)).reason).toBe("retired");
  });

  it.each([
    ["gpt-5", "2026-12-10T23:59:59Z", "gpt-5"],
    ["gpt-5-2025-08-07", "2026-12-10T23:59:59Z", "gpt-5-2025-08-07"],
    ["gpt-5", "2026-12-11T00:00:00Z", "gpt-6.1-sol"],
    ["gpt-5-2025-08-07", "2026-12-11T00:00:00Z", "gpt-6.1-sol"],
    ["gpt-4o-mini", "2027-01-14T00:00:00Z", "gpt-6-luna"],
  ])("for %s at %s is %s", (model, time, expected) => {
    const choose = () => requireModel("code_generator", { default: model }, undefined, undefined, Date.parse(time));
    if (model === expected) {
      expect(choose()).toBe(model);
    } else {
      expect(failure(choose).message).toContain(`"${expected}"`);
    }
  });

  it("can be any id of a compatible server", () => {
    expect(requireModel("code_generator", { default: "qwen3:8b" }, undefined, undefined, now)).toBe("qwen3:8b");
  });
});
