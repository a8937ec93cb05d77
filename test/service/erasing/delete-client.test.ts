import { Conflict, createClient, deleteClient, execute, NotFound, once, startFromTrigger } from "@nova/service";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { inARow, openTestCloud, type TestCloud } from "../../support/cloud.ts";

const ann = { id: `key_${"0".repeat(26)}`, role: "admin", client: null, name: "ann" } as const;
const ofClient = { id: `key_${"1".repeat(26)}`, role: "runner", name: "bob" } as const;
const ulid = "01J00000000000000000000000";

let cloud: TestCloud;
let slug: string;
let next = 0;
beforeAll(async () => {
  cloud = await openTestCloud();
  await cloud.publish(inARow("report", { say: "pass" }));
});
afterAll(() => cloud.close());
beforeEach(async () => {
  slug = `client-${next++}`;
  await createClient(cloud.service, ann, { slug, name: slug });
});

/** Ports of a process that has read the client before its deletion. */
function slowly() {
  const { workflows } = cloud.service;
  const latest: typeof workflows.latest = async (id) => {
    await deleteClient(cloud.service, ann, slug);
    return workflows.latest(id);
  };
  return { ...cloud.service, workflows: { ...workflows, latest } };
}

describe("during the deletion of a client,", () => {
  it("an arriving delivery is refused and leaves no record", async () => {
    const known = { type: "schedule", workflow: "report", trigger: "nightly", client: slug } as const;
    const arrival = { dedupe: "9:00", from: "schedule", about: "", context: "{}" };
    expect(await startFromTrigger(slowly(), { ...known, ...arrival })).toMatchObject({
      status: "refused",
      execution: null,
    });
    expect(await cloud.service.deliveries.list({ client: slug, limit: 1 })).toEqual([]);
  });

  it("a run that its own key starts is refused because the client is gone", async () => {
    const by = { ...ofClient, client: slug };
    const request = { principal: by.id, client: slug, key: `k ${slug}`, asked: "this" };
    const ports = slowly();
    const run = { ulid, workflow: "report", client: slug, context: "{}" };
    const error = await once(ports, request, () => execute(ports, by, run)).catch((thrown) => thrown);
    expect([Conflict, NotFound].some((kind) => error instanceof kind)).toBe(true);
  });
});
