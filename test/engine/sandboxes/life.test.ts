import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { Head } from "../../../packages/engine/src/chain/entry.ts";
import type { Position } from "../../../packages/engine/src/chain/position.ts";
import { chooseSandbox, sandboxLife } from "../../../packages/engine/src/sandboxes/life.ts";
import { wantedSandbox } from "../../../packages/engine/src/sandboxes/spec.ts";
import { action, flow, lines } from "../../support/engine/flows.ts";
import { atOnce } from "../../support/engine/scheduler.ts";
import { World } from "../../support/engine/world.ts";
import { root, sourceFiles } from "../../support/imports.ts";

const minute = 60_000;

/** Returns the sandbox for a node of one minute if a warm sandbox exists that was created `agoMs` ago for 5 minutes. */
async function chosenAfter(agoMs: number, options: { isolation?: "fresh"; killed?: boolean } = {}) {
  const world = new World();
  const warm = world.sandboxes.create("e", "", 300);
  world.clock.advance(agoMs);
  if (options.killed) world.sandboxes.kill(warm.id);
  const node = action("a", options.isolation && { isolation: options.isolation });
  const version = world.publish(flow("one", [node], lines("start > a > end")));
  const position = {
    before: { warm } as Head,
    at: { execution: "e", scope: "", seq: 2 },
    next: { seq: 2 },
  } as Position;
  const { sandbox, state } = await chooseSandbox(world.ports(atOnce), position, wantedSandbox(position, node, version));
  return { id: sandbox.id, state, leftMs: Date.parse(sandbox.endsAt) - world.clock.now };
}

it.each([
  ["that outlives the node is used unchanged", 2 * minute, {}, { id: "S1", state: "in use", leftMs: 3 * minute }],
  [
    "that would die while the node runs has its life extended",
    4 * minute,
    {},
    { id: "S1", state: "in use", leftMs: 6 * minute },
  ],
  ["whose time is over is replaced", 6 * minute, {}, { id: "S2", state: "created", leftMs: 6 * minute }],
  [
    "is replaced if it was killed, so that its life cannot be extended",
    4 * minute,
    { killed: true },
    { id: "S2", state: "created" },
  ],
  [
    "is not used by a node with `isolation: fresh`",
    minute,
    { isolation: "fresh" as const },
    { id: "S2", state: "created" },
  ],
])("a warm sandbox %s", async (_what, agoMs, options, expected) => {
  expect(await chosenAfter(agoMs, options)).toMatchObject(expected);
});

const states = Object.entries(sandboxLife) as [string, Readonly<Record<string, string>>][];

function reachableFrom(state: string): Set<string> {
  const found = new Set([state]);
  for (const one of found) for (const next of Object.values(Object.fromEntries(states)[one] ?? {})) found.add(next);
  return found;
}

describe("the life of a sandbox", () => {
  it.each(states.map(([state]) => state))("can end from the state %j", (state) => {
    expect(reachableFrom(state)).toContain("released");
  });

  it("reaches every state from the state of a new sandbox", () => {
    expect(reachableFrom("created").size).toBe(states.length);
  });

  it("ends only by code in life.ts, because no other file of the engine kills a sandbox", () => {
    const killing = sourceFiles("packages/engine/src").filter(({ path }) =>
      /sandboxes\.(kill|killAll|rest)\(/.test(readFileSync(`${root}/${path}`, "utf8")),
    );
    expect(killing.map(({ path }) => path)).toEqual(["packages/engine/src/sandboxes/life.ts"]);
  });
});
