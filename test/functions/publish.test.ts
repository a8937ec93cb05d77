import { publish } from "@nova/service";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { PublishingWorld } from "../service/support/publishing-world.ts";
import { inARow } from "../support/cloud.ts";

const made = vi.hoisted(() => ({ ports: undefined as unknown }));
vi.hoisted(() => Object.assign(process.env, { POWERTOOLS_LOG_LEVEL: "SILENT" }));
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

describe("the function that publishes", () => {
  it.each<[string, object, string[]]>([
    ["is named", detail("one"), ["one"]],
    ["is an event of the bus", { source: "nova", detail: detail("two") }, ["two"]],
    ["comes from the queue", { Records: [record("one"), record("two")] }, ["one", "two"]],
  ])("publishes what %s, at most one a second", async (_what, event, published) => {
    const begun = world.now;
    await handler(event, context);
    expect(world.versions.map(({ workflowId }) => workflowId)).toEqual(published);
    expect(world.now - begun).toBe(published.length * 1_000);
  });

  it("waits for nothing where a publication is over already, or there is none", async () => {
    await handler(detail("one"), context);
    const begun = world.now;
    await handler({ Records: [record("one"), record("two"), record("none"), record("one")] }, context);
    expect(world.now - begun).toBe(1_000);
    expect(world.machines).toHaveLength(2);
  });

  it("takes nothing that it does not understand for done", async () => {
    await expect(handler({ workflow: "one" }, context)).rejects.toThrow();
    expect(world.versions).toEqual([]);
  });
});
