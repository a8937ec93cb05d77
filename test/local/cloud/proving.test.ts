import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readInclusion } from "@nova/engine";
import { type LocalCloud, openLocalCloud } from "@nova/local";
import { execute, type Principal, publish } from "@nova/service";
import { ulid } from "ulid";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { inARow } from "../../support/cloud.ts";
import { keepPython, lendPython } from "../../support/known-python.ts";

const by: Principal = { id: "key:ada", role: "admin", client: null, name: "Ada" };

let dataDir: string;
let cloud: LocalCloud;

/** Opens the cloud. With `fires` its first sweep begins at once, otherwise after a minute. */
async function open(fires: boolean): Promise<void> {
  lendPython(dataDir);
  cloud = await openLocalCloud({ dataDir, fires });
  keepPython(dataDir);
}

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "nova-proving-"));
  await open(false);
  const text = JSON.stringify(inARow("short", { work: 'context["a"] = 1' }));
  await publish(cloud.service, by, { text, fileName: "workflow.json", files: {} });
});

afterAll(async () => {
  await cloud.close();
  await rm(dataDir, { recursive: true, force: true });
});

async function run(): Promise<string> {
  const { id } = await execute(cloud.service, by, { ulid: ulid(), workflow: "short", context: "{}" });
  await cloud.untilEnd(id);
  return id;
}

describe("the local cloud", { timeout: 60_000 }, () => {
  it("makes at most one Merkle tree per hour, and includes runs that closed while an earlier process owned the folder", async () => {
    const first = await run();
    await cloud.close();
    await open(true);
    await vi.waitFor(async () => expect(await readInclusion(cloud.ports, first)).not.toBeNull(), 20_000);
    const second = await run();
    await cloud.close();
    await open(true);
    // The sweep lists the newest root before it decides whether to make a tree. `cloud.close` waits for a tree that is
    // being made.
    const look = vi.spyOn(cloud.service.rootStore, "list");
    await vi.waitFor(() => expect(look).toHaveBeenCalled(), 20_000);
    await cloud.close();
    await open(false);
    const [stored] = await cloud.service.rootStore.list({ limit: 9 });
    expect(stored?.number).toBe(1);
    expect((await cloud.service.rootStore.pending(9)).map(({ execution }) => execution)).toEqual([second]);
  });
});
