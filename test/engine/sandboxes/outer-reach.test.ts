import type { Node, TaskNode, Workflow } from "@nova/workflow";
import { expect, it } from "vitest";
import { outerReach } from "../../../packages/engine/src/sandboxes/spec.ts";

const task = (id: string, allow?: string[], more: Partial<TaskNode> = {}): TaskNode =>
  ({ id, type: "action", executor: { kind: "code", code: "", ...(allow && { allow }) }, ...more }) as TaskNode;
const inMap = (...nodes: Node[]) => ({ id: "m", type: "map", body: { nodes, edges: [] } }) as unknown as Node;
const flow = (nodes: Node[], credentials: string[] | undefined = []) =>
  ({ nodes, ...(credentials && { credentials }) }) as Workflow;

const web = task("web", ["b.test:443", "a.test:80"]);

it.each<[string, Node[], string[]]>([
  ["names on the web's ports", [], ["a.test", "b.test"]],
  [
    "addresses and ranges, whatever their ports",
    [task("n", ["10.0.0.7:5432", "10.8.0.0/16"])],
    ["10.0.0.7", "10.8.0.0/16", "a.test", "b.test"],
  ],
  ["what is needed inside of maps", [inMap(task("n", ["c.test:443"]))], ["a.test", "b.test", "c.test"]],
  ["nothing more for code that reaches nothing", [task("n", [])], ["a.test", "b.test"]],
  ["nothing for what has a sandbox of its own", [task("n", undefined, { isolation: "fresh" })], ["a.test", "b.test"]],
])("is all that the nodes of a sandbox may reach together: %s", (_what, others, reach) => {
  expect(outerReach(web, flow([web, ...others]))).toEqual(reach);
});

it.each<[string, TaskNode]>([
  ["code without a wall", task("n")],
  ["credentials, whose hosts are known when the node begins", task("n", [], { credentials: ["email"] })],
  ["a name on another port", task("n", ["db.test:5432"])],
  ["a name on all the usual ports", task("n", ["a.test"])],
  ["this machine, on a laptop a way out of the sandbox", task("n", ["127.0.0.1:1025"])],
  ["this machine by its name", task("n", ["localhost:80"])],
  ["an address of the other kind", task("n", ["[2001:db8::7]:443"])],
])("is open where one of them has %s", (_what, other) => {
  expect(outerReach(web, flow([web, inMap(other)]))).toBeUndefined();
  expect(outerReach(web, flow([web, { ...other, isolation: "fresh" } as Node]))).toEqual(["a.test", "b.test"]);
});

it("is a fresh sandbox's own, and open where all credentials of the client come", () => {
  const fresh = task("f", ["c.test:443"], { isolation: "fresh" });
  expect(outerReach(fresh, flow([web, fresh, task("n")]))).toEqual(["c.test"]);
  expect(outerReach(web, { nodes: [web] } as unknown as Workflow)).toBeUndefined();
});
