import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openLocalCloud } from "@nova/local";
import { expect, it } from "vitest";
import { openTestCloud } from "../../support/cloud.ts";

it("a process that opens one local cloud after another reads the data of the cloud that is open now, both as its owner and as its guest", async () => {
  for (const turn of ["first", "second"]) {
    const dataDir = await mkdtemp(join(tmpdir(), `nova-${turn}-`));
    const owner = await openLocalCloud({ dataDir });
    const guest = await openLocalCloud({ dataDir });
    expect([owner.role, guest.role]).toEqual(["owner", "guest"]);
    expect(guest.ports.blobs).toBe(owner.ports.blobs);
    expect(await guest.ports.executions.list({ limit: 1 })).toEqual(await owner.ports.executions.list({ limit: 1 }));
    await guest.close();
    await owner.close();
    await rm(dataDir, { recursive: true });
  }
}, 60_000);

it("a local cloud closes only once, even if an interrupt arrives while it closes", async () => {
  const cloud = await openTestCloud();
  const closings = [cloud.close(), cloud.close()];
  await expect(Promise.all(closings)).resolves.toHaveLength(2);
});
