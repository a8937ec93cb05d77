import type { Node, StepNode, Workflow } from "@nova/workflow";
import { describe, expect, it } from "vitest";
import { mayImportLargeModules, outerReach, poolOf, sandboxSpec } from "../../../packages/engine/src/sandboxes/spec.ts";
import { action, flow, lines, mapOver } from "../../support/engine/flows.ts";
import { World } from "../../support/engine/world.ts";

const task = (id: string, allow?: string[], more: Partial<StepNode> = {}): StepNode =>
  ({ id, type: "action", executor: { kind: "code", code: "", ...(allow && { allow }) }, ...more }) as StepNode;
const inMap = (...nodes: Node[]) => ({ id: "m", type: "map", body: { nodes, edges: [] } }) as unknown as Node;
const sharing = (nodes: Node[], credentials: string[] | undefined = []) =>
  ({ nodes, ...(credentials && { credentials }) }) as Workflow;

const web = task("web", ["b.test:443", "a.test:80"]);

it.each<[string, Node[], string[]]>([
  ["names with port 80 or 443", [], ["a.test", "b.test"]],
  [
    "addresses and ranges, whatever their ports",
    [task("n", ["10.0.0.7:5432", "10.8.0.0/16"])],
    ["10.0.0.7", "10.8.0.0/16", "a.test", "b.test"],
  ],
  ["hosts of nodes inside maps", [inMap(task("n", ["c.test:443"]))], ["a.test", "b.test", "c.test"]],
  ["without the hosts of nodes whose code may connect to no host", [task("n", [])], ["a.test", "b.test"]],
  [
    "without the hosts of nodes that have a sandbox of their own",
    [task("n", undefined, { isolation: "fresh" })],
    ["a.test", "b.test"],
  ],
])("outerReach joins the allowed hosts of all nodes that share a sandbox: %s", (_what, others, reach) => {
  expect(outerReach(web, sharing([web, ...others]))).toEqual(reach);
});

it.each<[string, StepNode]>([
  ["code that may connect anywhere", task("n")],
  ["credentials, whose hosts are known only when the node starts", task("n", [], { credentials: ["email"] })],
  ["a host name on a port other than 80 and 443", task("n", ["db.test:5432"])],
  ["a host name without a port", task("n", ["a.test"])],
  ["an address of the machine itself", task("n", ["127.0.0.1:1025"])],
  ["the name of the machine itself", task("n", ["localhost:80"])],
  ["an IPv6 address", task("n", ["[2001:db8::7]:443"])],
])("outerReach sets no limit for a sandbox if one of its nodes has %s", (_what, other) => {
  expect(outerReach(web, sharing([web, inMap(other)]))).toBeUndefined();
  expect(outerReach(web, sharing([web, { ...other, isolation: "fresh" } as Node]))).toEqual(["a.test", "b.test"]);
});

it("outerReach returns only the hosts of one node for a fresh sandbox, and no limit if the node uses all credentials of a client", () => {
  const fresh = task("f", ["c.test:443"], { isolation: "fresh" });
  expect(outerReach(fresh, sharing([web, fresh, task("n")]))).toEqual(["c.test"]);
  expect(outerReach(web, { nodes: [web] } as unknown as Workflow)).toBeUndefined();
});

const doneBy = (executor: StepNode["executor"]) => ({ ...action("a"), executor });
const code = (text: string) => doneBy({ kind: "code", code: text });

function running(text: string, lib: Workflow["lib"] = {}): Workflow {
  return { ...flow("one", [code(text)], lines("start > a > end")), lib };
}

describe("mayImportLargeModules", () => {
  it.each([
    ["import pandas as pd", true],
    ["from PIL import Image", true],
    ["import json, fitz", true],
    ["numbers = __import__('numpy')", true],
    ["import json, asyncio", true],
    ["  from urllib.request import urlopen", true],
    ["import json, re, decimal", false],
    ["from urllib import parse, request", true],
    ["from urllib.parse import quote", false],
    ["from own import ssl_context  # not ssl", false],
    ["context['email'] = 'html'  # an import of http", false],
    ["context['pandasize'] = 'a request'", false],
  ])("is true only if code seems to import a package of the sandbox template or a large module: %s %s", (text, may) => {
    expect(mayImportLargeModules(running(text))).toBe(may);
  });

  it("takes little time, even for long hostile code", () => {
    for (const text of ["\n", "\t", " ", "import ", "from urllib import "])
      expect(mayImportLargeModules(running(text.repeat(100_000)))).toBe(false);
  });

  it("is true if a module of lib/ or code in the body of a map imports a package of the template", () => {
    expect(mayImportLargeModules(running("import own", { "own.py": "import requests" }))).toBe(true);
    expect(mayImportLargeModules(running("import own", { "own.py": "import re" }))).toBe(false);
    const inside = flow("map", [mapOver("m", [code("import psycopg")], [])], lines("start > m > end"));
    expect(mayImportLargeModules(inside)).toBe(true);
  });

  it("is true if a model has not yet written the code of a node", () => {
    const asked = doneBy({ kind: "prompt", prompt: "Add." } as StepNode["executor"]);
    expect(mayImportLargeModules(flow("p", [asked], lines("start > a > end")))).toBe(true);
  });
});

it("a sandbox that loads no packages is not shared with nodes that need packages", () => {
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
