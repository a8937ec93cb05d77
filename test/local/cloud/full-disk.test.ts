import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startExecution, verifyExecution } from "@nova/engine";
import { type LocalCloud, openLocalCloud } from "@nova/local";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { inARow, openTestCloud } from "../../support/cloud.ts";
import { fullDisk } from "../../support/full-disk.ts";

let dataDir: string;
beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "nova-full-"));
});
afterAll(() => rm(dataDir, { recursive: true, force: true }));

const steps = inARow("steps", { one: 'context["n"] = 1', two: 'context["n"] += 1' });

/** Reads all files of the folder, except those of Step Functions and the temporary ones of SQLite. */
async function files(): Promise<string[]> {
  const all = await readdir(dataDir, { recursive: true });
  return all.filter((name) => !/-(wal|journal)$|^states/.test(name)).sort();
}

async function reading<T>(work: (cloud: LocalCloud) => Promise<T>): Promise<T> {
  const cloud = await openLocalCloud({ dataDir, drives: false });
  try {
    return await work(cloud);
  } finally {
    await cloud.close();
  }
}

let id: string;

describe("a full disk", { timeout: 60_000 }, () => {
  it("pauses runs until there is space again, and makes all other requests fail with a clear error", async () => {
    const disk = await fullDisk(dataDir);
    const [full, again] = [Promise.withResolvers<string>(), Promise.withResolvers<string>()];
    const cloud = await openTestCloud({
      dataDir,
      warn: (sentence) => (/is full/.test(sentence) ? full : again).resolve(sentence),
      onProgress: (event) => event.state === "started" && event.node === "one" && disk.fill(),
    });
    const version = await cloud.publish(steps);
    const before = await files();
    ({ id } = await startExecution(cloud.ports, { version, context: "{}", files: [] }));
    expect(await full.promise).toMatch(
      /^the disk of .* is full - free some space: runs that stopped go on by themselves/,
    );
    const other = startExecution(cloud.ports, { version, context: "{}", files: [] });
    await expect(other).rejects.toMatchObject({ name: "StoreUnavailable", message: await full.promise });
    expect(await verifyExecution(cloud.ports, id)).toMatchObject({ state: "open" });
    disk.free();
    expect(await again.promise).toMatch(/^there is room again/);
    await cloud.untilEnd(id);
    expect(await verifyExecution(cloud.ports, id)).toMatchObject({ state: "anchored", links: 5 });
    expect(await files()).toEqual(before);
    await cloud.close();
  });

  it.each([{ readOnly: false }, { readOnly: true }])(
    "lets users read and verify stored runs, but not start a run: %j",
    async ({ readOnly }) => {
      const before = await files();
      const disk = await fullDisk(dataDir, { readOnly });
      disk.fill();
      expect(await reading(({ ports }) => verifyExecution(ports, id))).toMatchObject({ state: "anchored" });
      const sentence = readOnly ? /is read-only: what is in it can be read and verified/ : /is full - free some space/;
      await expect(openLocalCloud({ dataDir })).rejects.toMatchObject({
        name: "LocalCloudError",
        message: expect.stringMatching(sentence),
      });
      const version = { workflow: "steps", version: 1 };
      await expect(
        reading(async ({ ports }) => {
          const found = await ports.workflows.get(version.workflow, version.version);
          return startExecution(ports, { version: found as never, context: "{}", files: [] });
        }),
      ).rejects.toMatchObject({ name: "StoreUnavailable", message: expect.stringMatching(sentence) });
      expect(await files()).toEqual(before);
    },
  );
});
