import { budgetsWithoutPrice } from "@nova/agents";
import { type ModelChoice, type ModelRole, parseWorkflow } from "@nova/workflow";
import { describe, expect, it } from "vitest";
import {
  Catalog,
  catalog,
  priceOf,
  retirementOf,
  supportsReasoning,
} from "../../../packages/agents/src/model/catalog.ts";
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
  { because: "no setting names a model", model: "gpt-6.1-terra" },
  { because: "each agent has its own default", role: "input_analyzer", model: "gpt-6-luna" },
  { because: "DEFAULT_MODEL is set", fallback: "mine", model: "mine" },
  { because: "an empty DEFAULT_MODEL does not count", fallback: "", model: "gpt-6.1-terra" },
  {
    because: "the workflow's model has precedence over DEFAULT_MODEL",
    workflow: { default: "flow" },
    fallback: "mine",
    model: "flow",
  },
  {
    because: "the node's model has precedence over the workflow's",
    node: { default: "node" },
    workflow: { default: "flow" },
    model: "node",
  },
  {
    because: "the model of the agent has precedence over the default model",
    node: { default: "node", code_generator: "writer" },
    model: "writer",
  },
  {
    because: "a node's default model has precedence over a workflow's model of the agent",
    node: { default: "node" },
    workflow: { code_generator: "writer" },
    model: "node",
  },
  {
    because: "models of other agents do not count",
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

describe("the model of an agent", () => {
  it.each(cases)("is $model if $because", ({ role = "code_generator", node, workflow, fallback, model }) => {
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
  ] as const)("is refused after its retirement, even if it is chosen by %s", (_who, [node, workflow, fallback]) => {
    expect(failure(() => requireModel("code_generator", node, workflow, fallback, now)).reason).toBe("retired");
  });

  it.each([
    ["gpt-5", "2026-12-10T23:59:59Z", "gpt-5"],
    ["gpt-5-2025-08-07", "2026-12-10T23:59:59Z", "gpt-5-2025-08-07"],
    ["gpt-5", "2026-12-11T00:00:00Z", "gpt-6.1-sol"],
    ["gpt-5-2025-08-07", "2026-12-11T00:00:00Z", "gpt-6.1-sol"],
    ["gpt-4o-mini", "2027-01-14T00:00:00Z", "gpt-6-luna"],
  ])(
    "is accepted until its retirement and is then refused with the name of its successor: %s at %s results in %s",
    (model, time, expected) => {
      const choose = () => requireModel("code_generator", { default: model }, undefined, undefined, Date.parse(time));
      if (model === expected) {
        expect(choose()).toBe(model);
      } else {
        expect(failure(choose).message).toContain(`"${expected}"`);
      }
    },
  );

  it("can be an id that the catalog does not know if the server is not OpenAI's", () => {
    expect(requireModel("code_generator", { default: "qwen3:8b" }, undefined, undefined, now)).toBe("qwen3:8b");
  });
});

const limits = { max_cost_usd: 0.5 };
const text = { id: "a", type: "action", executor: "text", prompt: "Say" };
const prompt = { id: "a", type: "action", executor: "prompt", prompt: "Add up." };

function found(node: object, more: object = {}, fallback?: string): string[] {
  const definition = {
    id: "w",
    nodes: [{ id: "start", type: "start" }, node, { id: "end", type: "end" }],
    edges: [
      { from: "start", to: "a" },
      { from: "a", to: "end" },
    ],
    ...more,
  };
  const { workflow, findings } = parseWorkflow({ text: JSON.stringify(definition), fileName: "w.json", files: {} });
  if (!workflow) throw new TypeError(JSON.stringify(findings));
  return budgetsWithoutPrice(workflow, fallback).map(({ code, severity, path }) => `${code} ${severity} ${path}`);
}

describe("a cost limit in a workflow", () => {
  const own = "NOVA443 warning $.nodes[1].limits.max_cost_usd";

  it.each<[string, object, object, string | undefined, string[]]>([
    ["the model of a text node", { ...text, limits, model: "qwen3:8b" }, {}, undefined, [own]],
    ["one model of a prompt node", { ...prompt, limits, model: { code_generator: "qwen3:8b" } }, {}, undefined, [own]],
    ["the workflow's model", { ...text, limits }, { model: "qwen3:8b" }, undefined, [own]],
    ["DEFAULT_MODEL", { ...prompt, limits }, {}, "m", [own]],
    ["a model of a workflow that has a cost limit", text, { limits }, "m", ["NOVA443 warning $.limits.max_cost_usd"]],
  ])("causes a warning if %s has no price", (_what, node, more, fallback, expected) => {
    expect(found(node, more, fallback)).toEqual(expected);
  });

  it.each<[string, object, object, string | undefined]>([
    ["the node's model has a price", { ...text, limits, model: "gpt-6-luna" }, {}, "m"],
    ["the default models have prices", { ...prompt, limits }, {}, undefined],
    ["the model is a snapshot of a model with a price", { ...text, limits, model: "gpt-5-2025-08-07" }, {}, undefined],
    ["no cost limit is set", { ...text, model: "qwen3:8b" }, {}, undefined],
    ["no node asks a model", { id: "a", type: "action", code: "context['a'] = 1" }, { limits }, "m"],
  ])("causes no warning if %s", (_what, node, more, fallback) => {
    expect(found(node, more, fallback)).toEqual([]);
  });
});

const retirements = Object.entries(catalog.retirements);

describe("the catalog of models", () => {
  it.each(Object.entries(catalog.defaults))(
    "has a price and no retirement for the default model of the agent %s",
    (_role, model) => {
      expect(priceOf(model)).not.toBeNull();
      expect(retirementOf(model)).toBeNull();
    },
  );

  it.each(retirements)(
    "names, for the retired model %s, a successor that has a price and no retirement",
    (_model, { successor }) => {
      expect(priceOf(successor)).not.toBeNull();
      expect(retirementOf(successor)).toBeNull();
    },
  );

  it.each(Object.entries(catalog.usdPerMillionTokens))(
    "has a lower price for cached input of %s than for new input",
    (_model, price) => {
      expect(price.cached).toBeLessThan(price.input);
      expect(price.cacheWrite).toBeGreaterThanOrEqual(price.input);
      expect(price.output).toBeGreaterThan(price.input);
    },
  );

  it("names the sources and the date of its prices", () => {
    expect(catalog).toMatchObject({ asOf: expect.stringMatching(/^\d{4}-\d\d-\d\d$/) });
    expect(catalog.sources.every((source) => source.startsWith("https://developers.openai.com/"))).toBe(true);
  });

  it("treats a dated snapshot of a model like the model", () => {
    expect(priceOf("gpt-5-mini-2025-08-07")).toEqual(priceOf("gpt-5-mini"));
    expect(retirementOf("gpt-4o-2024-08-06")).toEqual({ on: "2027-01-14", successor: "gpt-6-luna" });
  });

  it.each([
    ["gpt-6.1-terra", true],
    ["gpt-4.1", false],
    ["gpt-4o-2024-11-20", false],
    ["qwen3:8b", false],
  ])("says whether %s returns encrypted thoughts: %s", (model, expected) => {
    expect(supportsReasoning(model)).toBe(expected);
  });

  it.each([
    ["an agent without a default model", { defaults: { code_generator: "gpt-6-luna" } }],
    ["a retirement that is no date", { retirements: { "gpt-5": { on: "soon", successor: "gpt-6-luna" } } }],
    ["a price below zero", { usdPerMillionTokens: { x: { input: -1, cached: 0, cacheWrite: 0, output: 0 } } }],
    ["an unknown field", { comment: "" }],
  ])("is refused if it has %s", (_case, changes) => {
    expect(Catalog.safeParse({ ...catalog, ...changes }).success).toBe(false);
  });
});
