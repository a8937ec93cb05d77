import type { WorkflowVersion } from "@nova/engine";
import { expect, it } from "vitest";
import { findUnchangedNodes } from "../../../packages/engine/src/restart/reuse.ts";

const task = (id: string, code: string) => ({
  id,
  type: "action",
  executor: { kind: "code", code },
  timeoutSeconds: 9,
});
const version = (nodes: object[], more: object = {}) =>
  ({ template: "t", workflow: { lib: {}, requirements: [], nodes, edges: [], ...more } }) as unknown as WorkflowVersion;
const each = { id: "each", type: "map", items: "order.lines", body: { nodes: [task("inner", "x")], edges: [] } };
const nodes = [task("a", "1"), task("b", "2"), each, { id: "bill", type: "workflow", workflow: "w", output: {} }];
const looked = async (code: string) => (code === "2" ? null : [code]);

it("findUnchangedNodes lists all text nodes, because NOVA compares the question of a text node later", async () => {
  const said = (id: string, prompt: string) => ({ ...task(id, ""), executor: { kind: "text", prompt, into: id } });
  const [now, then] = [
    version([said("a", "x"), task("b", "1")], { lib: { "m.py": "" } }),
    version([said("a", "y"), said("b", "z")]),
  ];
  expect(await findUnchangedNodes(now, then, looked)).toEqual({ a: "asked" });
});

it("findUnchangedNodes lists unchanged nodes together with the keys that they read", async () => {
  const same = await findUnchangedNodes(version(nodes), version(nodes), looked);
  expect(same).toEqual({ a: ["1"], b: null, each: ["order", "order.lines"], inner: ["x"] });
  const [, ...others] = nodes;
  const changed = version([task("a", "3"), ...others]);
  expect(Object.keys(await findUnchangedNodes(changed, version(nodes), looked))).toEqual(["b", "each", "inner"]);
  expect(await findUnchangedNodes(version(nodes, { lib: { "m.py": "" } }), version(nodes), looked)).toEqual({});
  expect(await findUnchangedNodes(version(nodes), version(nodes), async () => "more")).toEqual({
    each: ["order", "order.lines"],
  });
});
