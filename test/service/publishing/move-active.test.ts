import { StoreUnavailable } from "@nova/engine";
import {
  activateVersion,
  Conflict,
  deleteWorkflow,
  publish,
  publishVersion,
  Refused,
  type ServicePorts,
} from "@nova/service";
import type { Scheduler } from "fast-check";
import fc from "fast-check";
import { beforeEach, describe, expect, it } from "vitest";
import { findTriggerConflicts } from "../../../packages/service/src/triggers/sync.ts";
import { inARow } from "../../support/cloud.ts";
import { live, PublishingWorld } from "../support/publishing-world.ts";

const ann = { id: `key_${"0".repeat(26)}`, role: "admin", client: null, name: "ann" } as const;
const nightly = { type: "schedule", id: "nightly", every: "1d" };
const [mine, shared, first] = ["mine", "shared", "first"].map((id) => ({ type: "webhook", id }));
const paid = (source: string, rest: object = {}) => ({
  type: "event",
  id: "paid",
  pattern: { source: [source] },
  ...rest,
});

let world: PublishingWorld;
beforeEach(() => {
  world = new PublishingWorld();
});

const post = (id: string, triggers: (object | undefined)[], ports = world.ports()) => {
  const text = JSON.stringify(inARow(id, { say: "pass" }, { triggers }));
  return publish(ports, ann, { text, fileName: "workflow.json", files: {} });
};
const publishQueued = (version: number, workflowId = "a") => publishVersion(world.ports(), { workflowId, version });
const publication = (version: number) => world.publications.get({ workflowId: "a", version });
const keys = () => [...world.triggers.kept.keys()].sort();
const outside = () => live(world).outside;

describe("a publication that fails", () => {
  it("does not change the triggers of the active version if another workflow took one of its triggers first", async () => {
    await post("a", [nightly, mine]);
    const queue = world.ports({ queue: true });
    await post("a", [shared], queue);
    await post("b", [shared], queue);
    await publishQueued(1, "b");
    await publishQueued(2);
    expect(await publication(2)).toMatchObject({ status: "failed", reason: expect.stringMatching(/id of a webhook/) });
    expect(keys()).toEqual(["of/a/nightly", "webhook/mine", "webhook/shared"]);
    expect([outside(), world.workflowStates.kept.get("a")?.active]).toEqual([["a/nightly"], 1]);
  });

  it("leaves its webhook ids free for other workflows", async () => {
    const queue = world.ports({ queue: true });
    await post("a", [first, shared], queue);
    await post("b", [shared], queue);
    await publishQueued(1, "b");
    await publishQueued(1);
    expect(keys()).toEqual(["webhook/shared"]);
    await deleteWorkflow(world.ports(), ann, "a");
    expect(
      await findTriggerConflicts(world.ports(), null, { id: "c", triggers: [{ type: "webhook", id: "first" }] }),
    ).toEqual([]);
  });

  it("restores the triggers that the active version defines, with their buses and times", async () => {
    await post("a", [nightly, paid("shop")]);
    const before = [...world.eventRules.kept.values(), ...world.schedules.kept.values()];
    const { put } = world.eventRules;
    world.eventRules.put = async (rule) => {
      await put.call(world.eventRules, rule);
      if (rule.trigger === "last") throw new Refused("EventBridge refuses it - correct the pattern");
    };
    const later = [{ ...nightly, every: "2h" }, first, paid("bank", { bus: "default" })];
    expect(await post("a", [...later, { ...paid("x"), id: "last" }])).toMatchObject({
      status: "failed",
      reason: "EventBridge refuses it - correct the pattern",
    });
    expect([...world.eventRules.kept.values(), ...world.schedules.kept.values()]).toEqual(before);
    expect(live(world)).toMatchObject({ there: live(world).wanted });
    expect(keys()).toEqual(["of/a/nightly", "of/a/paid"]);
  });

  it("ends only after its triggers are removed, and is retried if an outage prevents their removal", async () => {
    const queue = world.ports({ queue: true });
    await post("a", [first, shared], queue);
    await world.triggers.put({ format: 1, key: "webhook/shared", workflowId: "b", trigger: shared as never });
    const { remove } = world.triggers;
    world.triggers.remove = () => Promise.reject(new StoreUnavailable("DynamoDB did not answer in time - try again"));
    await expect(publishQueued(1)).rejects.toThrow(/did not answer in time/);
    expect(await publication(1)).toMatchObject({ status: "publishing" });
    world.triggers.remove = remove;
    await publishQueued(1);
    expect([(await publication(1))?.status, keys()]).toEqual(["failed", ["webhook/shared"]]);
  });

  it("removes its triggers even if another version has got the number of its version", async () => {
    await post("a", [first], world.ports({ queue: true }));
    world.versions.push({ ...(await publication(1)), hash: "other", workflow: {}, stateMachineArn: "arn" } as never);
    await publishQueued(1);
    expect([(await publication(1))?.status, keys()]).toEqual(["failed", []]);
  });

  it("says in its reason that the triggers of the previous version have to be published again", async () => {
    await post("a", [{ ...nightly, every: "1h" }]);
    world.schedules.put = () => Promise.reject(new Refused("Scheduler takes nothing - ask AWS"));
    const { reason } = (await post("a", [nightly])) as { reason?: string };
    expect(reason).toMatch(/^Scheduler takes nothing.*; the triggers of the version before have to be published again/);
  });

  it("gives as its reason that the workflow was deleted if this happened during the publication", async () => {
    const queue = world.ports({ queue: true });
    await post("a", [mine], queue);
    await post("a", [first], queue);
    await publishQueued(2);
    await deleteWorkflow(world.ports(), ann, "a");
    await publishQueued(1);
    expect(await publication(1)).toMatchObject({ reason: "the workflow was deleted meanwhile - publish it again" });
    expect(keys()).toEqual([]);
  });
});

describe("a publication with a problem", () => {
  it.each(["ValidationException", "LimitExceededException", "AccessDeniedException"])(
    "such as %s fails for good",
    async (name) => {
      await post("a", [nightly], world.ports({ queue: true }));
      world.schedules.put = () => Promise.reject(Object.assign(new Error("no"), { name }));
      await publishQueued(1);
      const reason = `${name}: no - correct it, and publish it again`;
      expect(await publication(1)).toMatchObject({ status: "failed", reason });
      expect([keys(), world.versions]).toEqual([[], []]);
    },
  );

  it("throws an error if the problem is an outage, and the next delivery completes the publication", async () => {
    await post("a", [nightly], world.ports({ queue: true }));
    const { put } = world.schedules;
    world.schedules.put = () => Promise.reject(new StoreUnavailable("Scheduler did not answer in time - try again"));
    await expect(publishQueued(1)).rejects.toThrow(StoreUnavailable);
    world.schedules.put = put;
    await publishQueued(1);
    expect([(await publication(1))?.status, keys()]).toEqual(["ready", ["of/a/nightly"]]);
  });

  it("succeeds with a warning if the problem is only a schedule in the past", async () => {
    const once = (at: string) => post("a", [{ type: "schedule", id: "launch", at }]);
    expect(await once("2026-01-01T00:00:01")).toMatchObject({ status: "ready", findings: [] });
    const over = [{ code: "NOVA129", severity: "warning", path: "$.triggers[0].at" }];
    expect(await once("2025-12-31T23:59:59")).toMatchObject({ status: "ready", findings: over });
  });

  it("such as a trigger that is too long for the table is refused before the version is stored", async () => {
    const long = (letters: number) => post("a", [{ ...nightly, context: { letter: "x".repeat(letters) } }]);
    await expect(long(450_000)).rejects.toThrow(
      /^NOVA130: trigger "nightly" has 450,\d+ bytes, and NOVA keeps up to 250,000 - move long values into a node/,
    );
    expect(world.publications.kept.size).toBe(0);
    expect(await long(240_000)).toMatchObject({ version: 1, status: "ready" });
  });
});

describe("concurrent activations and publications", () => {
  const versions = [
    [nightly, mine, paid("shop")],
    [{ ...nightly, every: "2h" }, shared, paid("bank", { bus: "default" })],
    [{ type: "imap", id: "nightly", client: "acme" }, mine, { type: "mail", address: "invoices" }],
  ];

  it("leave exactly the triggers of the version that is active at the end, in every order of their steps", async () => {
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), fc.subarray([0, 1, 2, 3, 4], { minLength: 2 }), async (scheduler, chosen) => {
        world = new PublishingWorld();
        await post("a", versions[0] ?? []);
        for (const triggers of versions.slice(1)) await post("a", triggers, world.ports({ queue: true }));
        const ports = inAnyOrder(world.ports(), scheduler);
        const deeds = [
          () => publishVersion(ports, { workflowId: "a", version: 2 }),
          () => publishVersion(ports, { workflowId: "a", version: 3 }),
          () => activateVersion(ports, ann, "a", 1),
          () => activateVersion(ports, ann, "a", 2),
          () => deleteWorkflow(ports, ann, "a"),
        ];
        const done = Promise.allSettled(chosen.map((deed) => deeds[deed]?.()));
        for (const one of await scheduler.waitFor(done)) {
          if (one.status === "rejected") expect(["Conflict", "NotFound"]).toContain(one.reason.name);
        }
        const { there, wanted, outside, places } = live(world);
        expect({ there, outside }).toEqual({ there: wanted, outside: places });
      }),
      { numRuns: 60 },
    );
  });

  it("keep a version that is published during a deletion, and the deletion fails with a conflict", async () => {
    await post("a", [mine]);
    const { list } = world.ports().executions;
    const ports = world.ports();
    let isPublished = false;
    ports.executions.list = async (query) => {
      if (!isPublished) {
        isPublished = true;
        await post("a", [first]);
      }
      return list(query);
    };
    await expect(deleteWorkflow(ports, ann, "a")).rejects.toThrow(Conflict);
    expect(keys()).toEqual(["webhook/first"]);
  });
});

const interleaved = ["triggers", "schedules", "eventRules", "workflowStates", "workflows"] as const;

/** Returns ports whose calls return in an order that the scheduler chooses. */
function inAnyOrder(ports: ServicePorts, scheduler: Scheduler): ServicePorts {
  const waiting = interleaved.map((name) => [name, delayed(ports[name], scheduler)]);
  return { ...ports, ...Object.fromEntries(waiting) };
}

function delayed<T extends object>(port: T, scheduler: Scheduler): T {
  return new Proxy(port, {
    get(target, name) {
      const call = Reflect.get(target, name);
      if (typeof call !== "function") return call;
      return async (...args: unknown[]) => {
        await scheduler.schedule(Promise.resolve(), String(name));
        return call.apply(target, args);
      };
    },
  });
}
