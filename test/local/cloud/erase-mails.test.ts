import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { answer, createClient, deleteClient, erase, type Principal } from "@nova/service";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { asking } from "../../functions/api/support/flows.ts";
import { openTestCloud, type TestCloud } from "../../support/cloud.ts";

let cloud: TestCloud;
beforeAll(async () => {
  cloud = await openTestCloud();
});
afterAll(() => cloud.close());

const by: Principal = { id: "key_1", role: "admin", client: null, name: "Ada" };
const mails = async () => (await readdir(join(cloud.dataDir, "mail")).catch(() => [])).length;

/** A run with an approval that is mailed to a person. */
async function askedRun(client?: string): Promise<string> {
  const [start, ask, end] = asking.nodes;
  const message = { ...ask, message: "May Ines Ortega go on?", to: ["boss@example.com"] };
  const version = await cloud.publish({ ...asking, nodes: [start, message, end] });
  const before = await mails();
  const { startExecution } = await import("@nova/engine");
  const { id } = await startExecution(cloud.ports, { version, context: "{}", ...(client && { client }) });
  await vi.waitFor(async () => expect(await mails()).toBe(before + 1), 20_000);
  return id;
}

describe("a mail in the data folder", { timeout: 60_000 }, () => {
  it("is erased with its run, and with no other run", async () => {
    const [kept, erased] = [await askedRun(), await askedRun()];
    for (const execution of [kept, erased]) {
      await answer(cloud.service, by, { execution }, { choice: "approved" });
      await cloud.untilEnd(execution);
    }
    await erase(cloud.service, by, erased);
    expect(await mails()).toBe(1);
  });

  it("is erased with its client", async () => {
    await createClient(cloud.service, by, { slug: "ines", name: "Ines" });
    await askedRun("ines");
    const before = await mails();
    await deleteClient(cloud.service, by, "ines");
    await vi.waitFor(async () => expect(await mails()).toBe(before - 1), 20_000);
  });
});
