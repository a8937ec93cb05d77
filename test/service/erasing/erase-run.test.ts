import { cancelExecution } from "@nova/engine";
import { deleteClient, eraseClient, eraseStraggler, sweepErasures } from "@nova/service";
import { beforeEach, describe, expect, it } from "vitest";
import { ann, ErasureWorld } from "../support/erasing-world.ts";

let world: ErasureWorld;
beforeEach(async () => {
  world = new ErasureWorld();
  await world.publish("report", []);
});

const minutes = (count: number) => world.engine.clock.advance(count * 60_000);
const ended = (id: string) => {
  const { status, open } = world.engine.record(id);
  return [status, open, world.knows(id)];
};
const erased = ["cancelled", false, false];

describe("a run that starts during the deletion of its client", () => {
  it("is not erased if its client exists after the start", async () => {
    const id = await world.execute(async () => undefined);
    expect(ended(id)).toEqual(["running", true, true]);
  });

  it("is cancelled and erased by the process that started it if the client is gone, and the caller gets an error", async () => {
    const begun = world.execute(() => deleteClient(world.service(), ann, "acme"));
    await expect(begun).rejects.toThrow('there is no client "acme"');
    expect(world.ids.map(ended)).toEqual([erased]);
  });

  it("is put into the queue of erasures if there is one, and the caller gets an error", async () => {
    world.hasQueue = true;
    const begun = world.execute(() => deleteClient(world.service(), ann, "acme"));
    await expect(begun).rejects.toThrow("is being erased - nothing begins for it any more");
    const [id = ""] = world.ids;
    expect(world.engine.machines.get(id)?.status).toBe("running");
    expect(world.queued).toEqual([{ client: "acme" }, { client: "acme", execution: id }]);
    expect(await eraseStraggler(world.service(), "acme", id)).toBe(true);
    expect(ended(id)).toEqual(erased);
  });

  it.each([
    ["belongs to another client", "globex"],
    ["belongs to the default client", "default"],
    ["has a client that exists", "acme"],
  ])("is not erased if it %s", async (_what, client) => {
    const id = await world.begin(client);
    expect(await eraseStraggler(world.service(), client === "globex" ? "acme" : client, id)).toBe(false);
    expect(world.emptied).toEqual([]);
  });

  it("is erased by a later pass if the process that started it died, and the client's record exists until then", async () => {
    world.hasQueue = true;
    const ports = world.service();
    await deleteClient(ports, ann, "acme");
    expect(await eraseClient(ports, "acme")).toBe(false);
    const id = await world.begin();
    minutes(3);
    expect(await sweepErasures(ports)).toEqual([]);
    expect(await eraseClient(ports, "acme")).toBe(false);
    expect(world.kept.get("acme")?.erasing).toMatchObject({ part: "executions" });
    minutes(3);
    expect(await sweepErasures(ports)).toEqual(["acme"]);
    expect(await eraseClient(ports, "acme")).toBe(false);
    expect(ended(id)).toEqual(erased);
    minutes(16);
    expect(await eraseClient(ports, "acme")).toBe(true);
    expect([world.kept.size, world.deeds]).toEqual([0, ["client.deleted", "client.erased"]]);
  });

  it.each([
    ["is open", async () => undefined],
    ["has already ended", (id: string) => cancelExecution(world.service(), id)],
  ])(
    "is erased by a second pass of the erasure if the first pass missed the start of the run, and the run %s",
    async (_what, then) => {
      let id = "";
      world.onRest = async () => {
        if (id !== "") return;
        id = await world.begin();
        await then(id);
      };
      expect(await deleteClient(world.service(), ann, "acme")).toBe(true);
      expect(ended(id)).toEqual(erased);
    },
  );

  it("is erased by the next sweep if each pass of the erasure before the sweep finds another new run", async () => {
    world.onRest = async () => void (await world.begin());
    expect(await deleteClient(world.service(), ann, "acme")).toBe(false);
    expect(world.ids).toHaveLength(5);
    world.onRest = async () => undefined;
    minutes(3);
    expect(await sweepErasures(world.service())).toEqual(["acme"]);
    expect([world.ids.map(ended), world.kept.size]).toEqual([Array(5).fill(erased), 0]);
  });
});

describe("a run that is missing in the list of open runs", () => {
  it("is cancelled before its contents are erased", async () => {
    const id = await world.begin();
    world.late.open.add(id);
    expect(await deleteClient(world.service(), ann, "acme")).toBe(true);
    expect(ended(id)).toEqual(erased);
  });

  it.each(["its own", "those of the run it was restarted from"])(
    "is cancelled after the run that contains it (the blobs of the outer run are %s)",
    async (whose) => {
      const outer = await world.begin();
      const inner = await world.begin();
      const parent = { execution: outer, scope: "", seq: 1, depth: 1 };
      const root = whose === "its own" ? outer : "exec_source";
      Object.assign(world.engine.record(outer), { root });
      Object.assign(world.engine.record(inner), { root, parent });
      for (const id of [outer, inner]) world.late.open.add(id);
      const order: string[] = [];
      const ports = world.service();
      const stop = async (_arn: string, id: string) => void order.push(id);
      const stateMachines = { ...ports.stateMachines, stop };
      expect(await deleteClient({ ...ports, stateMachines }, ann, "acme")).toBe(true);
      expect(order).toEqual([outer, inner]);
      expect([outer, inner].map(ended)).toEqual([erased, erased]);
    },
  );
});

describe("the cancelling of a client's open runs", () => {
  beforeEach(async () => {
    world.hasQueue = true;
    for (let count = 0; count < 6; count++) await world.begin();
    await deleteClient(world.service(), ann, "acme");
    world.onOpen = () => minutes(1);
  });

  it("reports its progress until it ends, so that no other process cancels the same runs", async () => {
    await eraseClient(world.service(), "acme", world.engine.clock.now + 5.5 * 60_000);
    const said = world.renewals.map((at) => Date.parse(at ?? ""));
    expect(said).toHaveLength(6);
    for (const [index, at] of said.slice(1).entries()) expect(at - (said[index] ?? 0)).toBeLessThan(120_000);
  });

  it("stops when its time limit is over, and the next call continues with the other runs", async () => {
    const open = () => world.ids.filter((id) => world.engine.record(id).open).length;
    expect(await eraseClient(world.service(), "acme", world.engine.clock.now + 2.5 * 60_000)).toBe(false);
    expect([open(), world.emptied]).toEqual([4, []]);
    expect(await eraseClient(world.service(), "acme")).toBe(false);
    expect([open(), new Set(world.emptied).size]).toEqual([0, 6]);
  });
});
