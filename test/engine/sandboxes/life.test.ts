import { expect, it } from "vitest";
import type { Head } from "../../../packages/engine/src/chain/entry.ts";
import type { Position } from "../../../packages/engine/src/chain/position.ts";
import { chooseSandbox } from "../../../packages/engine/src/sandboxes/life.ts";
import { wantedSandbox } from "../../../packages/engine/src/sandboxes/spec.ts";
import { action, flow } from "../../support/engine/flows.ts";
import { atOnce } from "../../support/engine/scheduler.ts";
import { World } from "../../support/engine/world.ts";

const minute = 60_000;

/** A sandbox made a while ago for 5 minutes, and a node of one minute's time that may use it. */
async function chosenAfter(agoMs: number, options: { isolation?: "fresh"; killed?: boolean } = {}) {
  const world = new World();
  const warm = world.sandboxes.create("e", "", 300);
  world.clock.advance(agoMs);
  if (options.killed) world.sandboxes.kill(warm.id);
  const node = action("a", options.isolation && { isolation: options.isolation });
  const version = world.publish(
    flow(
      "one",
      [node],
      [
        ["start", "a"],
        ["a", "end"],
      ],
    ),
  );
  const position = {
    before: { warm } as Head,
    at: { execution: "e", scope: "", seq: 2 },
    next: { seq: 2 },
  } as Position;
  const { sandbox, state } = await chooseSandbox(world.ports(atOnce), position, wantedSandbox(position, node, version));
  return { id: sandbox.id, state, leftMs: Date.parse(sandbox.endsAt) - world.clock.now };
}

it.each([
  ["that outlives the node is used as it is", 2 * minute, {}, { id: "S1", state: "in use", leftMs: 3 * minute }],
  ["that would die under the node is extended", 4 * minute, {}, { id: "S1", state: "in use", leftMs: 6 * minute }],
  ["whose time is over is replaced", 6 * minute, {}, { id: "S2", state: "created", leftMs: 6 * minute }],
  ["that is gone when it should be extended is replaced", 4 * minute, { killed: true }, { id: "S2", state: "created" }],
  ["is left alone by a fresh node", minute, { isolation: "fresh" as const }, { id: "S2", state: "created" }],
])("a warm sandbox %s", async (_what, agoMs, options, expected) => {
  expect(await chosenAfter(agoMs, options)).toMatchObject(expected);
});
