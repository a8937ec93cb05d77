import type { TaskNode, Workflow } from "@nova/workflow";
import { describe, expect, it } from "vitest";
import { mayImportPackages, poolOf, sandboxSpec } from "../../../packages/engine/src/sandboxes/spec.ts";
import { action, flow, lines, mapOver } from "../../support/engine/flows.ts";
import { World } from "../../support/engine/world.ts";

const doneBy = (executor: TaskNode["executor"]) => ({ ...action("a"), executor });
const code = (text: string) => doneBy({ kind: "code", code: text });

function running(text: string, lib: Workflow["lib"] = {}): Workflow {
  return { ...flow("one", [code(text)], lines("start > a > end")), lib };
}

describe("code may import the template's packages", () => {
  it.each([
    ["import pandas as pd", true],
    ["from PIL import Image", true],
    ["import json, fitz", true],
    ["numbers = __import__('numpy')", true],
    ["import json, re, decimal", false],
    ["context['pandasize'] = 'a request'", false],
  ])("where its text names one: %s %s", (text, may) => {
    expect(mayImportPackages(running(text))).toBe(may);
  });

  it("where a module of lib/ does, or the body of a map", () => {
    expect(mayImportPackages(running("import own", { "own.py": "import requests" }))).toBe(true);
    expect(mayImportPackages(running("import own", { "own.py": "import re" }))).toBe(false);
    const inside = flow("map", [mapOver("m", [code("import psycopg")], [])], lines("start > m > end"));
    expect(mayImportPackages(inside)).toBe(true);
  });

  it("where a model has still to write it", () => {
    const asked = doneBy({ kind: "prompt", prompt: "Add." } as TaskNode["executor"]);
    expect(mayImportPackages(flow("p", [asked], lines("start > a > end")))).toBe(true);
  });
});

it("keeps sandboxes that load no packages apart from those that do", () => {
  const world = new World();
  const keyOf = (text: string) => {
    const version = world.publish(running(text));
    const [, node] = version.workflow.nodes as [unknown, ReturnType<typeof code>];
    const spec = sandboxSpec({ execution: "e", scope: "" }, node, version);
    return [spec.light ?? false, poolOf("acme", spec, node, version.workflow)?.key] as const;
  };
  const [[isLight, light], [isOtherLight, other], [, heavy]] = [keyOf("x = 1"), keyOf("y = 2"), keyOf("import PIL")];
  expect([isLight, isOtherLight]).toEqual([true, true]);
  expect(light).toBe(other);
  expect(light).not.toBe(heavy);
});
