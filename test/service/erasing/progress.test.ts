import { cancelExecution, createInFlight } from "@nova/engine";
import { deleteClient, eraseClient, sweepErasures } from "@nova/service";
import { beforeEach, describe, expect, it } from "vitest";
import { ann, ErasureWorld } from "../support/erasing-world.ts";

let world: ErasureWorld;
let id: string;
beforeEach(async () => {
  world = new ErasureWorld();
  await world.publish("report", []);
  id = await world.begin();
});

const minutes = (count: number) => world.engine.clock.advance(count * 60_000);
const restsFor = () => {
  const until = world.kept.get("acme")?.erasing?.restsUntil;
  return until === undefined ? undefined : (Date.parse(until) - world.engine.clock.now) / 60_000;
};
const passes = () => world.emptied.filter((one) => one === id).length;

describe("the last pass of an erasure in a deployment, where functions run for minutes,", () => {
  beforeEach(async () => {
    world.hasQueue = true;
  });

  it("starts only when no function can still be running a node of an ended run", async () => {
    await deleteClient(world.service(), ann, "acme");
    minutes(1);
    expect(await eraseClient(world.service(), "acme")).toBe(false);
    expect([passes(), restsFor()]).toEqual([1, 4.5]);
    minutes(4.5);
    expect(await eraseClient(world.service(), "acme")).toBe(false);
    expect([passes(), restsFor()]).toEqual([2, 11]);
    minutes(10.9);
    expect(await sweepErasures(world.service())).toEqual([]);
    expect(await eraseClient(world.service(), "acme")).toBe(false);
    minutes(0.1);
    expect(await sweepErasures(world.service())).toEqual(["acme"]);
    expect(await eraseClient(world.service(), "acme")).toBe(true);
    expect(passes()).toBe(3);
  });

  it("starts at once if another process ended the run long enough ago", async () => {
    await cancelExecution(world.service(), id);
    minutes(10);
    await deleteClient(world.service(), ann, "acme");
    minutes(5.5);
    expect(await eraseClient(world.service(), "acme")).toBe(true);
  });

  it("starts only when no process that read the client before the deletion can still start a run", async () => {
    await cancelExecution(world.service(), id);
    minutes(60);
    await deleteClient(world.service(), ann, "acme");
    expect(await eraseClient(world.service(), "acme")).toBe(false);
    expect(restsFor()).toBe(5.5);
    minutes(5.5);
    expect(await eraseClient(world.service(), "acme")).toBe(true);
  });

  it("is followed by another pass if a run was open at its start, even if it took long", async () => {
    await deleteClient(world.service(), ann, "acme");
    minutes(6);
    world.onRest = async () => {
      minutes(20);
      world.onRest = async () => undefined;
    };
    expect(await eraseClient(world.service(), "acme")).toBe(true);
    expect(passes()).toBe(2);
  });
});

describe("a deleted client on a laptop, where one process knows all running nodes,", () => {
  const inFlight = createInFlight();
  const laptop = () => ({ ...world.service(), inFlight });

  it("is erased at once if no node of its runs is running", async () => {
    const other = await world.begin("globex");
    const { promise, resolve } = Promise.withResolvers<void>();
    const node = inFlight.during(other, () => promise);
    expect(await deleteClient(laptop(), ann, "acme")).toBe(true);
    resolve();
    await node;
  });

  it("is not completely erased while a node of its runs waits for a model, and another pass follows", async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const node = inFlight.during(id, () => promise);
    expect(await deleteClient(laptop(), ann, "acme")).toBe(false);
    expect([passes(), restsFor(), world.engine.record(id).status]).toEqual([1, 0.5, "cancelled"]);
    minutes(1);
    expect(await sweepErasures(laptop())).toEqual(["acme"]);
    expect([passes(), restsFor()]).toEqual([2, 0.5]);
    resolve();
    await node;
    expect(await deleteClient(laptop(), ann, "acme")).toBe(false);
    minutes(1);
    expect(await sweepErasures(laptop())).toEqual(["acme"]);
    expect([passes(), world.kept.size, world.deeds]).toEqual([3, 0, ["client.deleted", "client.erased"]]);
  });
});
