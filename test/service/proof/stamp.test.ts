import { readInclusion, sha256 } from "@nova/engine";
import { proveAndStamp, stampRoots, type TimeStamper } from "@nova/service";
import { createTimeStamper } from "@nova/service/adapters";
import { createOutgoing } from "@nova/service/outgoing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { atOnce } from "../../support/engine/scheduler.ts";
import { World } from "../../support/engine/world.ts";
import { memoryKeyPair } from "../../support/key-pair.ts";
import { openTsa, type Tsa } from "../../support/tsa/open-tsa.ts";

const outgoing = createOutgoing({ allowsPrivate: true });
const keyPair = memoryKeyPair();
const hash = Buffer.from(sha256("the text of a root"), "hex");
let tsa: Tsa;
beforeAll(async () => {
  tsa = await openTsa();
});
afterAll(() => tsa[Symbol.asyncDispose]());

/** Returns a world in which runs have closed, and the ports of a job in it. */
async function proving(timeStamper: TimeStamper | undefined, runs = 1) {
  const world = new World();
  for (let number = 0; number < runs; number++)
    await world.roots
      .leaves(atOnce)
      .put({ execution: `exec_${number}`, hash: sha256(`${number}`), closedAt: `2026-01-0${number + 1}` });
  const { chain, roots } = world.ports(atOnce);
  const clock = { now: () => Date.now(), sleep: async () => undefined };
  const rootStore = world.roots.store(atOnce);
  return { world, ports: { chain, roots, clock, keyPair, rootStore, ...(timeStamper && { timeStamper }) } };
}

describe("a time stamper", () => {
  it("returns a token for the hash, and the time in the token", async () => {
    const before = Math.floor(Date.now() / 1000) * 1000;
    const { token, at } = await createTimeStamper(outgoing, tsa.url).stamp(hash);
    expect(at.getTime()).toBeGreaterThanOrEqual(before);
    expect(at.getTime()).toBeLessThanOrEqual(Date.now());
    expect(Buffer.from(token).includes(hash)).toBe(true);
    expect(Buffer.from(token).readUInt8(0)).toBe(0x30);
  });

  it.each([
    ["refuses", "reject", "status 02"],
    ["fails", "fail", "answered 503"],
  ] as const)("throws an error that says what happened if the authority %s", async (_, conduct, says) => {
    tsa.conduct = conduct;
    await expect(createTimeStamper(outgoing, tsa.url).stamp(hash)).rejects.toThrow(says);
    tsa.conduct = "stamp";
  });

  it("throws an error that names the address if no server listens at the address", async () => {
    await expect(createTimeStamper(outgoing, "http://127.0.0.1:9/tsa").stamp(hash)).rejects.toThrow(
      "the time-stamp authority 127.0.0.1:9 gave no stamp",
    );
  });

  it("refuses a token for another request or for another hash", async () => {
    const queries: Buffer[] = [];
    const replay = createTimeStamper(
      {
        async fetch(url, init) {
          queries.push(Buffer.from(init?.body as Uint8Array));
          return outgoing.fetch(url, { ...init, body: queries[0] as Buffer<ArrayBuffer> });
        },
      },
      tsa.url,
    );
    await replay.stamp(hash);
    await expect(replay.stamp(hash)).rejects.toThrow("answers another request");
    await expect(replay.stamp(Buffer.alloc(32))).rejects.toThrow("over another hash");
  });

  it("refuses every response that was shortened or extended, or was changed before the position of its signature", async () => {
    let answer = Buffer.alloc(0);
    let change = (bytes: Buffer): Buffer => bytes;
    const stamper = createTimeStamper(
      {
        async fetch(url, init) {
          if (answer.length === 0) answer = Buffer.from(await (await outgoing.fetch(url, init)).arrayBuffer());
          return new Response(new Uint8Array(change(answer)));
        },
      },
      tsa.url,
    );
    await stamper.stamp(hash);
    const outcomes = new Set<string>();
    const changes: ((bytes: Buffer) => Buffer)[] = [
      (bytes) => Buffer.concat([bytes, Buffer.of(0)]),
      () => Buffer.from("<html>not here</html>"),
      () => Buffer.alloc(0),
      () => Buffer.alloc(200_000, 0x30),
      () => Buffer.from("3080", "hex"),
      () => Buffer.from("30053003020100", "hex"),
      ...Array.from({ length: 120 }, (_, at) => (bytes: Buffer) => bytes.subarray(0, at * 5)),
    ];
    for (change of changes) {
      const error = await stamper.stamp(hash).catch((error: Error) => error);
      expect(error).toMatchObject({ name: "StampFailed" });
      outcomes.add((error as Error).message);
    }
    expect(outcomes.size).toBeGreaterThan(4);
  });
});

describe("the job that stamps roots", () => {
  it("makes a root, requests a stamp for the root, and records the delay of the stamp", async () => {
    const { world, ports } = await proving(createTimeStamper(outgoing, tsa.url));
    expect(await proveAndStamp(ports)).toMatchObject({ made: [{ number: 1 }], stamps: 1 });
    const stamp = world.roots.stamps.get(1);
    expect(stamp?.delayMs).toBeGreaterThanOrEqual(0);
    const found = await readInclusion(ports, "exec_0");
    expect(found?.stamp).toEqual({ token: stamp?.token });
    const root = Buffer.from(sha256(found?.root.text ?? ""), "hex");
    expect(Buffer.from(stamp?.token ?? "", "base64").includes(root)).toBe(true);
  });

  it("makes no stamps if no authority is configured", async () => {
    const { world, ports } = await proving(undefined);
    expect(await proveAndStamp(ports)).toMatchObject({ made: [{ number: 1 }], stamps: 0 });
    expect((await readInclusion(ports, "exec_0"))?.stamp).toBeNull();
    expect(world.roots.stamps.size).toBe(0);
  });

  it("makes roots while the authority fails, and later stamps these roots, the oldest first, with the delay of each stamp", async () => {
    const asked: string[] = [];
    const root = (number: number) => ({ execution: `exec_${number}`, hash: sha256(`${number}`), closedAt: "2026" });
    let isUp = false;
    const { world, ports } = await proving({
      async stamp(sha256) {
        asked.push(Buffer.from(sha256).toString("hex"));
        if (isUp) return { token: sha256, at: new Date(Date.now() + 3_600_000) };
        throw Object.assign(new Error("the authority sleeps"), { name: "StampFailed" });
      },
    });
    for (const number of [1, 2, 3]) {
      expect(await proveAndStamp(ports)).toMatchObject({ stamps: 0, problem: "the authority sleeps" });
      await world.roots.leaves(atOnce).put(root(number));
    }
    const texts = [1, 2, 3].map((number) => sha256(world.roots.roots.get(number)?.text ?? ""));
    expect(asked).toEqual([texts[0], texts[0], texts[0]]);
    isUp = true;
    asked.length = 0;
    expect(await stampRoots(ports)).toEqual({ stamps: 3 });
    expect(asked).toEqual(texts);
    expect(world.roots.stamps.get(1)?.delayMs).toBeGreaterThanOrEqual(3_600_000);
    expect(await stampRoots(ports)).toEqual({ stamps: 0 });
  });

  it("stores no stamp that is older than its root", async () => {
    const { world, ports } = await proving({ stamp: async (token) => ({ token, at: new Date("2020-01-01") }) });
    expect((await proveAndStamp(ports)).problem).toContain("older than the root");
    expect(world.roots.stamps.size).toBe(0);
  });

  it("requests no stamp after its time limit", async () => {
    const { ports } = await proving({ stamp: async (token) => ({ token, at: new Date() }) });
    await proveAndStamp(ports);
    expect(await stampRoots(ports, 0)).toEqual({ stamps: 0 });
  });

  it("rethrows an error that does not come from the authority", async () => {
    const { ports } = await proving({ stamp: () => Promise.reject(new TypeError("a bug")) });
    await expect(proveAndStamp(ports)).rejects.toThrow("a bug");
  });
});
