// @module-tag deep: these tests take long, so `npm test` leaves this file out.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { readKeys } from "../../../packages/local/src/cloud/keys.ts";
import { claimFolder } from "../../../packages/local/src/cloud/open.ts";

const program = new URL("claim-process.ts", import.meta.url).pathname;

let dataDir: string;
let started: ChildProcess[];

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "nova-claim-"));
  started = [];
});

afterEach(async () => {
  for (const child of started) child.kill("SIGKILL");
  await rm(dataDir, { recursive: true });
});

describe("a data folder", () => {
  it("has exactly one owner if several processes start at the same moment, and the other processes are guests", async () => {
    const claims = await Promise.all(Array.from({ length: 5 }, () => start()));
    expect(claims.map((claim) => claim.role).sort()).toEqual(["guest", "guest", "guest", "guest", "owner"]);
    expect(new Set(claims.map((claim) => claim.instance)).size).toBe(1);
  });

  it("gets a new owner after the old owner is killed, although the file of the old owner still exists", async () => {
    const first = await start();
    await kill(first.child);
    const second = await start();
    expect([first.role, second.role]).toEqual(["owner", "owner"]);
    expect(second.instance).not.toBe(first.instance);
  });

  it("keeps its owner until the last process that uses the folder has left or died", async () => {
    const owner = await start();
    const guest = await start();
    owner.child.stdin?.write("close\n");
    const late = await start();
    expect([guest.role, late.role, late.instance]).toEqual(["guest", "guest", owner.instance]);
    await kill(guest.child);
    expect(owner.child.exitCode).toBeNull();
    late.child.stdin?.end();
    await once(owner.child, "exit");
    expect((await start()).role).toBe("owner");
  });

  it("lets guests know immediately that its owner was killed", async () => {
    const owner = await start();
    const { adminKey } = await readKeys(dataDir);
    const claim = await claimFolder(dataDir, adminKey, { drives: true, isReadOnly: false });
    if (claim.role !== "guest") throw new Error(`became ${claim.role}`);
    await kill(owner.child);
    await claim.visit.ownerLost;
  });
});

async function start(): Promise<{ child: ChildProcess; role: string; instance: string }> {
  const child = spawn(process.execPath, [program, dataDir], { stdio: ["pipe", "pipe", "inherit"] });
  started.push(child);
  const [line] = await once(createInterface({ input: child.stdout }), "line");
  return { child, ...JSON.parse(line) };
}

async function kill(child: ChildProcess): Promise<void> {
  const exit = once(child, "exit");
  child.kill("SIGKILL");
  await exit;
}
