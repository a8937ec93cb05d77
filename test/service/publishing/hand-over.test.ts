import { StoreUnavailable, type WorkflowVersion } from "@nova/engine";
import { activateVersion, Conflict, deleteWorkflow, publish, publishVersion, sweepService } from "@nova/service";
import { beforeEach, describe, expect, it } from "vitest";
import { dropOldMachines, sweepTriggers } from "../../../packages/service/src/publishing/publish-version.ts";
import { demandMachine } from "../../../packages/service/src/workflows/find.ts";
import { inARow } from "../../support/cloud.ts";
import { dyingAt } from "../support/dying.ts";
import { live, PublishingWorld } from "../support/publishing-world.ts";

const ann = { id: `key_${"0".repeat(26)}`, role: "admin", client: null, name: "ann" } as const;
const nightly = (every: string) => ({ type: "schedule", id: "nightly", every });
const paid = (bus: "nova" | "default") => ({ type: "event", id: "paid", pattern: { source: ["shop"] }, bus });
const hook = (id: string) => ({ type: "webhook", id });
const versions = [
  [nightly("1d"), hook("first"), paid("nova"), { ...nightly("1h"), id: "hourly" }],
  [nightly("2h"), hook("second"), paid("default"), { ...nightly("1h"), id: "daily" }],
];
const second = { workflowId: "a", version: 2 };

let world: PublishingWorld;
beforeEach(() => {
  world = new PublishingWorld();
});

const post = (triggers: object[] = [], ports = world.ports()) => {
  const text = JSON.stringify(inARow("a", { say: "pass" }, { triggers }));
  return publish(ports, ann, { text, fileName: "workflow.json", files: {} });
};
const active = () => world.workflowStates.kept.get("a")?.active;
const expectSettled = () => {
  const { there, wanted, outside, places } = live(world);
  expect({ there, outside }).toEqual({ there: wanted, outside: places });
  expect(world.workflowStates.kept.get("a")?.touched).toBeUndefined();
};

type Change = (ports: ReturnType<PublishingWorld["ports"]>) => Promise<unknown>;
const changes: [string, Change][] = [
  ["makes another version active", (ports) => activateVersion(ports, ann, "a", 1)],
  ["deletes a workflow", (ports) => deleteWorkflow(ports, ann, "a")],
];
/**
 * Repeats a change in new worlds. The process dies at its first call in the first world, at its second call in the
 * second world, and so on. Returns the number of the last world, in which the process survives.
 */
async function dying(change: Change, behind: () => Promise<void>, queue = false): Promise<number> {
  for (let at = 1; ; at++) {
    world = new PublishingWorld();
    await post(versions[0]);
    await post(versions[1], world.ports({ queue }));
    const death = await change(dyingAt(world.ports(), at)).then(
      () => undefined,
      ({ message }) => message,
    );
    await behind();
    expectSettled();
    if (death === undefined) return at;
    expect(death).toBe("the process died");
  }
}

describe("a process that dies while it", () => {
  it.each(changes)(
    "%s leaves unfinished steps that a sweep completes, whichever step was the last one before its death",
    async (_what, change) => {
      expect(await dying(change, () => sweepTriggers(world.ports()))).toBeGreaterThan(20);
    },
  );

  it.each(changes)("%s leaves unfinished steps that a repeated call completes", async (_what, change) => {
    const again = () => change(world.ports()).catch(({ name }) => expect(name).toBe("NotFound"));
    expect(await dying(change, async () => void (await again()))).toBeGreaterThan(20);
  });

  it("publishes a version leaves unfinished steps that the next delivery completes", async () => {
    const next = async () => {
      await publishVersion(world.ports(), second);
      expect(active()).toBe(2);
    };
    const steps = await dying((ports) => publishVersion(ports, second), next, true);
    expect(steps).toBeGreaterThan(20);
  });
});

describe("during the activation of another version,", () => {
  it("all triggers of the active version exist at each moment", async () => {
    for (const triggers of versions) await post(triggers);
    const { move } = world.workflowStates;
    const moves: [number | undefined, ReturnType<typeof live>][] = [];
    world.workflowStates.move = async (...args) => {
      moves.push([active(), live(world)]);
      return move.apply(world.workflowStates, args);
    };
    await activateVersion(world.ports(), ann, "a", 1);
    expect(moves.map(([version]) => version)).toEqual([2, 2, 1]);
    for (const [, { outside, places }] of moves) expect(outside).toEqual(expect.arrayContaining(places));
  });

  it("a sweep does not undo the activation", async () => {
    for (const triggers of versions) await post(triggers);
    const { put } = world.eventRules;
    world.eventRules.put = async (rule) => {
      await put.call(world.eventRules, rule);
      world.eventRules.put = put;
      await sweepTriggers(world.ports());
    };
    await activateVersion(world.ports(), ann, "a", 1);
    expect(active()).toBe(1);
    expectSettled();
  });
});

describe("a version whose event trigger uses another bus", () => {
  it("does not replace the rule of the active version before the new version becomes active", async () => {
    await post([paid("nova")]);
    const ports = world.ports({ queue: true });
    await post([paid("default")], ports);
    const { create } = ports.workflows;
    ports.workflows.create = () => Promise.reject(new StoreUnavailable("DynamoDB did not answer in time - try again"));
    await expect(publishVersion(ports, second)).rejects.toThrow(StoreUnavailable);
    expect([active(), [...world.eventRules.kept.keys()]]).toEqual([1, ["a/paid@nova", "a/paid@default"]]);
    ports.workflows.create = create;
    await publishVersion(ports, second);
    expect([active(), [...world.eventRules.kept.keys()]]).toEqual([2, ["a/paid@default"]]);
  });
});

describe("triggers of which a crashed process has set up only some", () => {
  it("are put into the queue of publications if there is a queue", async () => {
    for (const triggers of versions) await post(triggers);
    await world.workflowStates.move("a", { active: 2 }, { touched: [1, 2] });
    await sweepTriggers(world.ports({ queue: true }));
    expect(world.queued).toEqual([{ workflow: "a", version: 2 }]);
    expect(await publishVersion(world.ports(), second)).toBe(false);
    expectSettled();
  });

  it("are completed by a repeated delivery of the publication, even if the workflow's state does not list them", async () => {
    for (const triggers of versions) await post(triggers);
    world.schedules.kept.clear();
    expect(await publishVersion(world.ports(), second)).toBe(false);
    expectSettled();
  });

  it("are put into the queue of publications less and less often", async () => {
    for (const triggers of versions) await post(triggers);
    await world.workflowStates.move("a", { active: 2 }, { touched: [1, 2] });
    const ports = world.ports({ queue: true });
    const minutes: number[] = [];
    for (let minute = 0; minute < 16; minute++, world.now += 60_000) {
      await sweepTriggers(ports);
      if (world.queued.splice(0).length > 0) minutes.push(minute);
    }
    expect(minutes).toEqual([0, 4, 12]);
  });

  it("do not make a publication fail if it cannot set up the missing triggers, which a later sweep sets up", async () => {
    for (const triggers of versions) await post(triggers);
    await world.workflowStates.move("a", { active: 2 }, { touched: [1, 2] });
    const { put } = world.schedules;
    world.schedules.put = () => Promise.reject(Object.assign(new Error("no"), { name: "ValidationException" }));
    expect(await publishVersion(world.ports(), second)).toBe(false);
    expect(world.workflowStates.kept.get("a")?.touched).toEqual([1, 2]);
    world.schedules.put = put;
    await sweepTriggers(world.ports());
    expectSettled();
  });
});

it("a sweep of the service sets up the missing triggers if a crashed process set up only some", async () => {
  for (const triggers of versions) await post(triggers);
  await world.workflowStates.move("a", { active: 2 }, { touched: [1, 2] });
  await sweepService(world.ports());
  expectSettled();
});

describe("versions of a state machine", () => {
  const arn = (version: number) => `arn:aws:states:us-east-1:000000000000:stateMachine:nova-greet:${version}`;
  /** Returns a version of a workflow. With `calls`, the version has a node for each called workflow. */
  function version(
    number: number,
    calls: { workflow: string; version?: number }[] = [],
    id = "greet",
  ): WorkflowVersion {
    const nodes = calls.map((call, index) => ({ id: `call${index}`, type: "workflow", ...call }));
    const workflow = { id, nodes, edges: [] };
    return { workflowId: id, version: number, workflow, stateMachineArn: arn(number) } as never;
  }

  beforeEach(() => {
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

  it("are removed, the oldest first, until fifty are left", async () => {
    expect(await dropped()).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  });

  it.each<[string, () => void]>([
    ["an open run uses them", () => world.open.push({ stateMachineArn: arn(4) })],
    ["they are active", () => void world.workflowStates.set("greet", { active: 4 })],
    ["a client has pinned them", () => world.clients.push({ slug: "acme", pins: { greet: 4 } } as never)],
    [
      "a node of another workflow names them",
      () => world.versions.push(version(1, [{ workflow: "greet", version: 4 }], "outer")),
    ],
  ])("are not removed even if they are old, if %s", async (_what, need) => {
    need();
    expect(await dropped()).toEqual([1, 2, 3, 5, 6, 7, 8, 9, 10]);
  });

  it("are removed even if a node calls their workflow without a version number", async () => {
    world.versions.push(version(1, [{ workflow: "greet" }], "outer"));
    expect(await dropped()).toHaveLength(10);
  });

  it("are all kept while there are at most fifty, without a search for the runs and nodes that use them", async () => {
    world.machines.splice(50);
    world.open.push(null as never);
    expect(await dropped()).toHaveLength(10);
  });

  it("cannot be activated, pinned or run by number after their removal", async () => {
    await dropOldMachines(world.ports(), version(60));
    await expect(demandMachine(world.ports(), version(11))).resolves.toBeUndefined();
    await expect(demandMachine(world.ports(), version(10))).rejects.toThrow(Conflict);
    await expect(demandMachine(world.ports(), version(10))).rejects.toThrow(/publish its definition again/);
  });
});
