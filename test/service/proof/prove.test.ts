import { hashTree, isRootSigned, leafBytes, readInclusion, readRoot, sha256 } from "@nova/engine";
import { type ProvingLimits, type ProvingPorts, proveClosedRuns } from "@nova/service";
import { describe, expect, it } from "vitest";
import { Random } from "../../support/engine/random.ts";
import { atOnce, type Caller, type Fault, settled } from "../../support/engine/scheduler.ts";
import { World } from "../../support/engine/world.ts";
import { memoryKeyPair } from "../../support/key-pair.ts";

const keyPair = memoryKeyPair();

function portsOf(world: World, caller: Caller): ProvingPorts {
  const { chain, roots, clock } = world.ports(caller);
  return { chain, roots, clock, keyPair, rootStore: world.roots.store(caller) };
}

const nameOf = (number: number) => `exec_${number}`;
const leafOf = (number: number) => ({
  execution: nameOf(number),
  hash: sha256(`close entry of ${number}`),
  closedAt: new Date(1_000 * number).toISOString(),
});

async function closeRuns(world: World, ...numbers: number[]): Promise<void> {
  for (const number of numbers) await world.roots.leaves(atOnce).put(leafOf(number));
}

const prove = (world: World, limits?: ProvingLimits) => proveClosedRuns(portsOf(world, atOnce), limits);

/** Computes the root hash of a tree from a leaf and its audit path, as section 2.1.3.2 of RFC 9162 defines it. */
function follow(hash: string, index: number, size: number, path: readonly string[]): string | undefined {
  const join = (left: string, right: string) => sha256(Buffer.from(`01${left}${right}`, "hex"));
  let [fn, sn, r] = [index, size - 1, sha256(Buffer.from(`00${hash}`, "hex"))];
  for (const p of path) {
    if (sn === 0) return undefined;
    if (fn % 2 === 1 || fn === sn) {
      r = join(p, r);
      while (fn % 2 === 0 && fn !== 0) [fn, sn] = [fn >> 1, sn >> 1];
    } else r = join(r, p);
    [fn, sn] = [fn >> 1, sn >> 1];
  }
  return sn === 0 ? r : undefined;
}

/** Returns a text for each fault of the trees in `world`, which must contain `closed` runs. */
async function faultsIn(world: World, closed: number): Promise<string[]> {
  const faults: string[] = [];
  const { chain, roots } = world.ports(atOnce);
  const stored = [...world.roots.roots.values()].sort((a, b) => a.number - b.number).map(readRoot);
  const places = new Map<string, string[]>();
  for (const [at, root] of stored.entries()) {
    if (root.number !== at + 1) faults.push(`root ${at + 1} is missing`);
    const before = stored[at - 1];
    if (root.previous !== (before ? sha256(before.text) : null)) faults.push(`root ${root.number} names another root`);
    if (!(await isRootSigned(keyPair, root))) faults.push(`the signature of root ${root.number} is not valid`);
    for (const [index, { execution }] of (await roots.leaves(root)).entries())
      places.set(execution, [...(places.get(execution) ?? []), `${root.number}/${index}`]);
  }
  for (let number = 0; number < closed; number++) {
    const { execution, hash } = leafOf(number);
    const found = await readInclusion({ chain, roots }, execution);
    if (!found) {
      faults.push(`${execution} has no note`);
      continue;
    }
    const { tree, size, number: of } = readRoot({ number: noteOf(world, execution), ...found.root });
    const { index, path } = found.inclusion;
    if (follow(hash, index, size, path) !== tree) faults.push(`the path of ${execution} does not lead to its tree`);
    if (places.get(execution)?.join() !== `${of}/${index}`) faults.push(`${execution} is in ${places.get(execution)}`);
  }
  if (places.size !== closed) faults.push(`${places.size} runs are in trees, not ${closed}`);
  if (world.roots.pending.size > 0) faults.push(`${world.roots.pending.size} leaves are still pending`);
  return faults;
}

function noteOf(world: World, execution: string): number {
  const [note] = (world.chain.notes.get(execution) ?? []).flatMap((one) => (one.kind === "root" ? [one.number] : []));
  return note ?? 0;
}

describe("the job that proves closed runs", () => {
  it("makes no root if no run has closed", async () => {
    const world = new World();
    expect(await prove(world)).toEqual([]);
    expect(world.roots.roots.size + world.roots.trees.size).toBe(0);
  });

  it("makes one signed root for a tree of all closed runs, in the order in which they closed", async () => {
    const world = new World();
    await closeRuns(world, 4, 0, 3, 1, 2);
    const [root] = await prove(world);
    expect(root).toMatchObject({ number: 1, size: 5, previous: null });
    const leaves = [0, 1, 2, 3, 4].map((number) => leafBytes(leafOf(number)));
    expect(root?.tree).toBe(hashTree(leaves).toString("hex"));
    expect(root?.text).toBe(
      `{"format":1,"number":1,"size":5,"tree":"${root?.tree}","at":"${root?.at}","previous":null}`,
    );
    expect(await faultsIn(world, 5)).toEqual([]);
  });

  it("makes each further root with the hash of the previous root, and makes no root if no run has closed since then", async () => {
    const world = new World();
    await closeRuns(world, 0);
    await prove(world);
    await closeRuns(world, 1, 2);
    expect(await prove(world)).toMatchObject([{ number: 2, size: 2 }]);
    expect(await prove(world)).toEqual([]);
    expect(await faultsIn(world, 3)).toEqual([]);
  });

  it("makes several trees if more runs have closed than one tree may contain", async () => {
    const world = new World();
    await closeRuns(world, 0, 1, 2, 3, 4, 5, 6);
    const roots = await prove(world, { leaves: 3 });
    expect(roots.map(({ size }) => size)).toEqual([3, 3, 1]);
    expect(await faultsIn(world, 7)).toEqual([]);
  });

  it("makes no tree after its time limit", async () => {
    const world = new World();
    await closeRuns(world, 0, 1);
    expect(await prove(world, { until: world.ports(atOnce).clock.now() })).toEqual([]);
    expect(world.roots.pending.size).toBe(2);
  });

  it("adds a run to no second tree if another process writes the leaf of the run again", async () => {
    const world = new World();
    await closeRuns(world, 0, 1);
    await prove(world);
    await closeRuns(world, 1);
    expect(await prove(world)).toEqual([]);
    await closeRuns(world, 0, 2);
    expect(await prove(world)).toMatchObject([{ size: 1 }]);
    expect(await faultsIn(world, 3)).toEqual([]);
  });

  it("adds a run with two pending leaves only once to a tree", async () => {
    const world = new World();
    await closeRuns(world, 0);
    await world.roots.leaves(atOnce).put({ ...leafOf(0), closedAt: "2026-01-01T00:00:00.000Z" });
    await prove(world);
    expect(await faultsIn(world, 1)).toEqual([]);
  });
});

const faults: Fault[] = ["before", "after", "repeat", "kill"];

/** Closes runs and runs jobs in random order and with random faults. At last one job runs without faults. */
async function simulateProving(seed: number): Promise<{ faults: string[]; story: string[] }> {
  const [random, world] = [new Random(seed), new World()];
  const closed = 1 + random.below(7);
  const leaves = 1 + random.below(4);
  const spawnJob = () =>
    world.scheduler.spawn("job", (caller) => proveClosedRuns(portsOf(world, caller), { leaves }), 1 + random.below(4));
  for (let number = 0; number < closed; number++)
    world.scheduler.spawn(nameOf(number), async (caller) => {
      // The steps after a close entry may be repeated long after the first time.
      for (let left = 1 + random.below(3); left > 0; left--) await world.roots.leaves(caller).put(leafOf(number));
    });
  let jobs = 2 + random.below(4);
  for (let begun = 1 + random.below(3); begun > 0; begun--) spawnJob();
  await settled();
  for (;;) {
    const ready = world.scheduler.ready();
    if (jobs > 0 && (ready.length === 0 || random.chance(0.05))) {
      jobs--;
      spawnJob();
      await settled();
      continue;
    }
    if (ready.length === 0) break;
    const pending = random.pick(ready);
    const isJob = pending.process.name === "job";
    const fault = isJob && random.chance(0.08) ? random.pick(faults) : undefined;
    await world.scheduler.perform(pending, fault === "repeat" && !pending.call.repeats ? undefined : fault);
  }
  await prove(world, { leaves });
  return { faults: await faultsIn(world, closed), story: world.scheduler.story };
}

describe("several jobs that run at the same time and die at any step while runs close", () => {
  const runs = Number(process.env.NOVA_MODEL_RUNS ?? 300);

  it("put each closed run into exactly one tree of one chain of roots", async () => {
    for (let seed = 0; seed < runs; seed++) {
      const { faults, story } = await simulateProving(seed);
      expect(faults, `seed ${seed}:\n${story.join("\n")}`).toEqual([]);
    }
  });
});
