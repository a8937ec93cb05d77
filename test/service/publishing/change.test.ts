import { StoreUnavailable } from "@nova/engine";
import { deleteWorkflow, NotFound, publish, type ServicePorts } from "@nova/service";
import { beforeEach, describe, expect, it } from "vitest";
import { inARow } from "../../support/cloud.ts";
import { dyingAt } from "../support/dying.ts";
import { PublishingWorld } from "../support/publishing-world.ts";

const ann = { id: `key_${"0".repeat(26)}`, role: "admin", client: null, name: "ann" } as const;
const bob = { ...ann, id: `key_${"1".repeat(26)}` };
const outage = () => Promise.reject(new StoreUnavailable("DynamoDB did not answer in time - try again"));

let world: PublishingWorld;
/** The names of the workflow's credentials. */
let kept: Set<string>;
beforeEach(async () => {
  world = new PublishingWorld();
  await post();
  kept = new Set(["stripe", "bank"]);
});

function ports(): ServicePorts {
  const credentialStore = {
    list: async () => Array.from(kept, (name) => ({ name })),
    remove: async ({ name }: { name: string }) => kept.delete(name),
  };
  return { ...world.ports(), credentialStore } as unknown as ServicePorts;
}

const post = (says = "a") => {
  const text = JSON.stringify(inARow("greet", { say: `context["said"] = "${says}"` }, { triggers: [hook] }));
  return publish(ports(), ann, { text, fileName: "workflow.json", files: {} });
};
const hook = { type: "webhook", id: "first" };
const deletions = () => world.deeds.filter(({ action }) => action === "workflow.deleted");
const left = () => [kept.size, world.triggers.kept.size, deletions().length];

describe("the deletion of a workflow", () => {
  it("removes the triggers and credentials of the workflow, and leaves one audit record that names the caller", async () => {
    await deleteWorkflow(ports(), ann, "greet");
    expect(left()).toEqual([0, 0, 1]);
    await expect(deleteWorkflow(ports(), bob, "greet")).rejects.toThrow(NotFound);
    expect(deletions()).toMatchObject([{ by: ann.id, subject: "greet", detail: { version: 1 } }]);
  });

  it("leaves one audit record, which names the faster caller, if two callers request it at once", async () => {
    const slow = ports();
    const { list } = slow.executions;
    let isDeleted = false;
    slow.executions.list = async (query) => {
      if (!isDeleted) await deleteWorkflow(ports(), bob, "greet");
      isDeleted = true;
      return list(query);
    };
    await deleteWorkflow(slow, ann, "greet");
    expect(left()).toEqual([0, 0, 1]);
    expect(deletions()).toMatchObject([{ by: bob.id }]);
  });

  it("is completed by a repeated deletion if the store of credentials did not answer the first time", async () => {
    const away = ports();
    away.credentialStore.list = outage;
    await expect(deleteWorkflow(away, ann, "greet")).rejects.toThrow(StoreUnavailable);
    expect(left()).toEqual([2, 0, 0]);
    await deleteWorkflow(ports(), bob, "greet");
    expect(left()).toEqual([0, 0, 1]);
    expect(deletions()).toMatchObject([{ by: ann.id }]);
    await expect(deleteWorkflow(ports(), bob, "greet")).rejects.toThrow(NotFound);
  });

  it("leaves no triggers or credentials to a new workflow with the same id, even if the process dies at any step", async () => {
    for (let at = 1, isOver = false; !isOver; at++) {
      world = new PublishingWorld();
      await post();
      kept = new Set(["stripe", "bank"]);
      const death = await deleteWorkflow(dyingAt(ports(), at), ann, "greet").catch((error) => error);
      const { deleted } = world.workflowStates.kept.get("greet") ?? {};
      expect([undefined, "RangeError"]).toContain(death?.name);
      isOver = death === undefined;
      await post("b");
      expect(left()).toEqual(deleted === undefined ? [2, 1, 0] : [0, 1, 1]);
      if (deleted === undefined) continue;
      kept.add("new");
      await post("c");
      expect(left()).toEqual([1, 1, 1]);
    }
  });

  it("does not remove the credentials if the workflow was published again during the deletion", async () => {
    const away = ports();
    away.credentialStore.list = outage;
    await expect(deleteWorkflow(away, ann, "greet")).rejects.toThrow(StoreUnavailable);
    await world.workflowStates.set("greet", { deleted: 0 });
    await post("b");
    expect([kept.size, deletions().length]).toEqual([2, 1]);
  });
});
