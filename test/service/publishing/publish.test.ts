import { StoreUnavailable } from "@nova/engine";
import {
  activateVersion,
  findWorkflow,
  type Publication,
  publish,
  publishVersion,
  showWorkflow,
  sweepPublications,
} from "@nova/service";
import { beforeEach, describe, expect, it } from "vitest";
import { inARow } from "../../support/cloud.ts";
import { PublishingWorld } from "../support/publishing-world.ts";

const ann = { id: `key_${"0".repeat(26)}`, role: "admin", client: null, name: "ann" } as const;
const source = (says: string, triggers: object[] = []) => {
  const definition = inARow("greet", { say: `context["said"] = ${JSON.stringify(says)}` }, { triggers });
  return { text: JSON.stringify(definition), fileName: "workflow.json", files: {} };
};
const first = { workflowId: "greet", version: 1 };

let world: PublishingWorld;
beforeEach(() => {
  world = new PublishingWorld();
});

const stateOf = async (version = 1) => (await world.publications.get({ workflowId: "greet", version }))?.status;
const activeVersion = async () => (await world.workflowStates.get("greet"))?.active;

describe("without a queue of publications,", () => {
  it("a version is ready and active when the request is answered", async () => {
    const ports = world.ports();
    expect(await publish(ports, ann, source("a"))).toMatchObject({ version: 1, status: "ready", created: true });
    expect(await publish(ports, ann, source("a"))).toMatchObject({ version: 1, status: "ready", created: false });
    expect(await publish(ports, ann, source("b"))).toMatchObject({ version: 2, status: "ready", created: true });
    expect(await findWorkflow(ports, "greet")).toMatchObject({ version: { version: 2 }, active: 2 });
    expect(world.machines).toHaveLength(2);
  });

  it("the audit log shows a publication only if new runs use another version afterwards", async () => {
    const ports = world.ports();
    for (const says of ["a", "a", "b", "b"]) await publish(ports, ann, source(says));
    for (const version of [2, 1, 1]) await activateVersion(ports, ann, "greet", version);
    for (const says of ["b", "b"]) await publish(ports, ann, source(says));
    const deeds = world.deeds.map(({ action, detail }) => [action, detail.version]);
    const [published, activated] = ["workflow.published", "workflow.activated"];
    expect(deeds).toEqual([
      [published, 1],
      [published, 2],
      [activated, 1],
      [published, 2],
    ]);
  });

  it("two definitions that are published concurrently become two versions", async () => {
    const ports = world.ports();
    const both = await Promise.all([publish(ports, ann, source("a")), publish(ports, ann, source("b"))]);
    expect(both.map(({ version }) => version).sort()).toEqual([1, 2]);
    expect(both.map(({ status }) => status)).toEqual(["ready", "ready"]);
    expect(await activeVersion()).toBe(2);
  });

  it("a version that Step Functions refuses fails with the reason, and the previous version stays active", async () => {
    const ports = world.ports();
    await publish(ports, ann, source("a"));
    world.answers.push("refuses");
    const failed = await publish(ports, ann, source("b"));
    const reason = expect.stringMatching(/refused it: InvalidDefinition: no such state/);
    expect(failed).toMatchObject({ version: 2, status: "failed", reason });
    expect(await findWorkflow(ports, "greet")).toMatchObject({ version: { version: 1 }, active: 1 });
    expect(await showWorkflow(ports, "greet")).toMatchObject({ version: { status: "failed", reason }, active: 1 });
    await expect(findWorkflow(ports, "greet", 2)).rejects.toThrow(
      /^version 2 of "greet" could not be published: Step [^-]*no such state[^-]* - correct it, and publish it again$/,
    );
    expect(await publish(ports, ann, source("b"))).toMatchObject({ version: 3, status: "ready" });
  });

  it("an inactive version is activated if its definition is published again", async () => {
    const ports = world.ports();
    await publish(ports, ann, source("a"));
    await publish(ports, ann, source("b"));
    await world.workflowStates.set("greet", { active: 1 });
    await publish(ports, ann, source("b"));
    expect(await activeVersion()).toBe(2);
  });
});

describe("with a queue of publications,", () => {
  it("a version cannot run while it waits in the queue, and a repeated request creates no second version", async () => {
    const ports = world.ports({ queue: true });
    const begun = world.now;
    expect(await publish(ports, ann, source("a"))).toMatchObject({ version: 1, status: "publishing", created: true });
    expect(world.now - begun).toBeLessThanOrEqual(2_100);
    expect(await publish(ports, ann, source("a"))).toMatchObject({ version: 1, status: "publishing", created: false });
    expect(world.queued).toEqual([
      { workflow: "greet", version: 1 },
      { workflow: "greet", version: 1 },
    ]);
    await expect(findWorkflow(ports, "greet")).rejects.toThrow(/version 1 of "greet" is being published - try again/);
    expect(await showWorkflow(ports, "greet")).toMatchObject({ version: { status: "publishing" }, active: null });
    await publishVersion(ports, first);
    expect(await showWorkflow(ports, "greet")).toMatchObject({ version: { version: 1 }, active: 1 });
  });

  it("the version with the higher number is active in the end, even if its publication was completed first", async () => {
    const ports = world.ports({ queue: true });
    await publish(ports, ann, source("a"));
    await publish(ports, ann, source("b"));
    await publishVersion(ports, { ...first, version: 2 });
    await publishVersion(ports, first);
    expect(await activeVersion()).toBe(2);
    expect(await findWorkflow(ports, "greet", 1)).toMatchObject({ version: { version: 1 }, latest: 2 });
  });

  it("a version is published once, even if it is delivered twice", async () => {
    const ports = world.ports({ queue: true });
    await publish(ports, ann, source("a"));
    await publishVersion(ports, first);
    await publishVersion(ports, first);
    expect(world.machines).toHaveLength(1);
  });

  it("a repeated delivery completes the publication if a process died after it made the state machine", async () => {
    const ports = world.ports({ queue: true });
    await publish(ports, ann, source("a"));
    world.answers.push("dies behind it");
    await expect(publishVersion(ports, first)).rejects.toThrow(/died/);
    expect(await stateOf()).toBe("publishing");
    await publishVersion(ports, first);
    expect(await stateOf()).toBe("ready");
    expect(world.versions).toHaveLength(1);
    expect(world.versions[0]?.stateMachineArn).toBe(world.machines[0]);
  });

  it("an outage does not make a version fail, so the next delivery can continue its publication", async () => {
    const ports = world.ports({ queue: true });
    await publish(ports, ann, source("a"));
    world.answers.push("is out of reach");
    await expect(publishVersion(ports, first)).rejects.toThrow(/did not answer in time/);
    expect(await stateOf()).toBe("publishing");
  });

  it("a version fails if another workflow took its mail address while the version waited, and no run can use the version", async () => {
    const ports = world.ports({ queue: true });
    const mail = { type: "mail", address: "invoices" } as const;
    await publish(ports, ann, source("a", [mail]));
    const trigger = { ...mail, id: "mail-1" };
    await world.triggers.put({ format: 1, key: "mail/invoices", workflowId: "other", trigger });
    await publishVersion(ports, first);
    expect(await world.publications.get(first)).toMatchObject({
      status: "failed",
      reason: expect.stringMatching(/another workflow has the address of a mail trigger in this one/),
    });
    expect(world.versions).toEqual([]);
  });

  it("a version fails with a clear reason if its number was taken by another definition", async () => {
    const ports = world.ports({ queue: true });
    await publish(ports, ann, source("a"));
    const other = await world.publications.get(first);
    world.versions.push({ ...other, hash: "other", stateMachineArn: "arn" } as never);
    await publishVersion(ports, first);
    expect(await world.publications.get(first)).toMatchObject({
      status: "failed",
      reason: expect.stringMatching(/was taken by another publication - publish it again/),
    });
  });

  it("a lost publication is put into the queue a second time after two minutes, but not earlier", async () => {
    const ports = world.ports({ queue: true });
    await publish(ports, ann, source("a"));
    world.queued.length = 0;
    expect(await sweepPublications(ports)).toEqual([]);
    world.now += 121_000;
    expect(await sweepPublications(ports)).toEqual([first]);
    expect(world.queued).toEqual([{ workflow: "greet", version: 1 }]);
    await publishVersion(ports, first);
    expect(await sweepPublications(ports)).toEqual([]);
  });

  it("a waiting publication is put into the queue less and less often, in the end once an hour", async () => {
    const ports = world.ports({ queue: true });
    await publish(ports, ann, source("a"));
    const begun = world.now;
    const minutes: number[] = [];
    for (let minute = 1; minute <= 240; minute++) {
      world.now = begun + minute * 60_000;
      if ((await sweepPublications(ports)).length > 0) minutes.push(minute);
    }
    expect(minutes).toEqual([2, 6, 14, 30, 62, 122, 182]);
  });

  it("700 waiting publications, of which one is completed per second, are put into the queue again only 920 times in total", async () => {
    const ports = world.ports({ queue: true });
    await publish(ports, ann, source("a"));
    const [pending] = world.publications.kept.values();
    for (let n = 1; n < 700; n++) await world.publications.create({ ...pending, workflowId: `w${n}` } as Publication);
    world.queued.length = 0;
    let waiting = 700;
    for (let minute = 1; waiting > 0 && minute < 60; minute++) {
      world.now += 60_000;
      const done = [...world.publications.kept.values()].filter(({ status }) => status === "publishing").slice(0, 60);
      for (const one of done) await world.publications.settle(one, { status: "ready" });
      waiting -= done.length;
      await sweepPublications(ports);
    }
    expect([waiting, world.queued.length]).toEqual([0, 580 + 340]);
  });

  it.each(["DefinitionMissing", "UnknownFormat"])(
    "an unreadable publication fails with the reason %s",
    async (name) => {
      const ports = world.ports({ queue: true });
      await publish(ports, ann, source("a"));
      const { get } = world.publications;
      world.publications.get = () =>
        Promise.reject(Object.assign(new Error("it is gone - publish it again"), { name }));
      expect(await publishVersion(ports, first)).toBe(false);
      world.publications.get = get;
      expect(await world.publications.get(first)).toMatchObject({
        status: "failed",
        reason: "it is gone - publish it again",
      });
      expect(world.machines).toEqual([]);
    },
  );

  it("a publication that cannot be read because of an outage is retried", async () => {
    const ports = world.ports({ queue: true });
    await publish(ports, ann, source("a"));
    const { get } = world.publications;
    world.publications.get = () => Promise.reject(new StoreUnavailable("DynamoDB did not answer in time - try again"));
    await expect(publishVersion(ports, first)).rejects.toThrow(StoreUnavailable);
    world.publications.get = get;
    expect(await stateOf()).toBe("publishing");
  });

  it("a publication that cannot be put into the queue does not block other publications", async () => {
    const ports = world.ports({ queue: true });
    await publish(ports, ann, source("a"));
    const [pending] = world.publications.kept.values();
    await world.publications.create({ ...pending, workflowId: "other" } as Publication);
    ports.publishQueue = {
      enqueue: async ({ workflow }) => {
        if (workflow === "greet") throw new RangeError("no queue takes this");
      },
    };
    world.now += 121_000;
    await expect(sweepPublications(ports)).rejects.toThrow(/no queue takes this/);
    expect(await sweepPublications(ports)).toEqual([{ workflowId: "other", version: 1 }]);
  });
});
