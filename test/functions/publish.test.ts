import { publish } from "@nova/service";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { PublishingWorld } from "../service/support/publishing-world.ts";
import { inARow } from "../support/cloud.ts";

const made = vi.hoisted(() => ({ ports: undefined as unknown }));
vi.mock("../../functions/service-app.ts", () => ({ warmServicePorts: () => made.ports }));

const { handler } = await import("../../functions/publish.ts");
const ann = { id: `key_${"0".repeat(26)}`, role: "admin", client: null, name: "ann" } as const;
const context = { awsRequestId: "request-1", getRemainingTimeInMillis: () => 60_000 };
let world: PublishingWorld;

beforeEach(async () => {
  world = new PublishingWorld();
  const ports = world.ports({ queue: true });
  made.ports = ports;
  for (const id of ["one", "two"]) {
    const text = JSON.stringify(inARow(id, { work: 'context["x"] = 1' }));
    await publish(ports, ann, { text, fileName: "workflow.json", files: {} });
  }
});

const detail = (workflow: string) => ({ workflow, version: 1 });
const record = (workflow: string) => ({ body: JSON.stringify({ source: "nova", detail: detail(workflow) }) });

describe("the Lambda function that publishes versions", () => {
  it.each<[string, object, string[]]>([
    ["in the event itself", detail("one"), ["one"]],
    ["in an event of the bus", { source: "nova", detail: detail("two") }, ["two"]],
    ["in messages of the queue", { Records: [record("one"), record("two")] }, ["one", "two"]],
  ])("finds the versions to publish %s, and publishes at most one a second", async (_what, event, published) => {
    const begun = world.now;
    await handler(event, context);
    expect(world.versions.map(({ workflowId }) => workflowId)).toEqual(published);
    expect(world.now - begun).toBe(published.length * 1_000);
  });

  it("does not pause after a version that is already published or does not exist", async () => {
    await handler(detail("one"), context);
    const begun = world.now;
    await handler({ Records: [record("one"), record("two"), record("none"), record("one")] }, context);
    expect(world.now - begun).toBe(1_000);
    expect(world.machines).toHaveLength(2);
  });

  it("fails if it gets an unknown event", async () => {
    await expect(handler({ workflow: "one" }, context)).rejects.toThrow();
    expect(world.versions).toEqual([]);
  });
});
