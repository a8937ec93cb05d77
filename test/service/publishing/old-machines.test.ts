import type { WorkflowVersion } from "@nova/engine";
import { Conflict } from "@nova/service";
import { beforeEach, describe, expect, it } from "vitest";
import { dropOldMachines } from "../../../packages/service/src/publishing/publish-version.ts";
import { demandMachine } from "../../../packages/service/src/workflows/find.ts";
import { PublishingWorld } from "../support/publishing-world.ts";

const arn = (version: number) => `arn:aws:states:us-east-1:000000000000:stateMachine:nova-greet:${version}`;
let world: PublishingWorld;

/** A version of a workflow; with `calls`, it has a node for each called workflow. */
function version(number: number, calls: { workflow: string; version?: number }[] = [], id = "greet"): WorkflowVersion {
  const nodes = calls.map((call, index) => ({ id: `call${index}`, type: "workflow", ...call }));
  const workflow = { id, nodes, edges: [] };
  return { workflowId: id, version: number, workflow, stateMachineArn: arn(number) } as never;
}

beforeEach(() => {
  world = new PublishingWorld();
  for (let number = 1; number <= 60; number++) {
    world.versions.push(version(number));
    world.machines.unshift(arn(number));
  }
});

const dropped = async () => {
  await dropOldMachines(world.ports(), version(60));
  const left = new Set(world.machines);
  return Array.from({ length: 60 }, (_, index) => index + 1).filter((number) => !left.has(arn(number)));
};

describe("versions of a state machine", () => {
  it("are kept up to fifty, and the oldest are removed", async () => {
    expect(await dropped()).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  });

  it.each<[string, () => void]>([
    ["an open run uses it", () => world.open.push({ stateMachineArn: arn(4) })],
    ["it is active", () => void world.workflowStates.set("greet", { active: 4 })],
    ["a client has pinned it", () => world.clients.push({ slug: "acme", pins: { greet: 4 } } as never)],
    [
      "a node of another workflow names it",
      () => world.versions.push(version(1, [{ workflow: "greet", version: 4 }], "outer")),
    ],
  ])("include an old one if %s", async (_what, need) => {
    need();
    expect(await dropped()).toEqual([1, 2, 3, 5, 6, 7, 8, 9, 10]);
  });

  it("are not kept for a node that calls the latest version", async () => {
    world.versions.push(version(1, [{ workflow: "greet" }], "outer"));
    expect(await dropped()).toHaveLength(10);
  });

  it("are not searched while there are few", async () => {
    world.machines.splice(50);
    world.open.push(null as never);
    expect(await dropped()).toHaveLength(10);
  });
});

it("removed machine versions cannot be activated, pinned or run by number", async () => {
  await dropOldMachines(world.ports(), version(60));
  await expect(demandMachine(world.ports(), version(11))).resolves.toBeUndefined();
  await expect(demandMachine(world.ports(), version(10))).rejects.toThrow(Conflict);
  await expect(demandMachine(world.ports(), version(10))).rejects.toThrow(/publish its definition again/);
});
