import { createHash } from "node:crypto";
import * as engine from "@nova/engine";
import type { DailyCheck, DailyCheckStore, LeafStore, PendingLeaf, RootStore } from "@nova/service";
import { LRUCache } from "lru-cache";
import { type BucketConnection, readText, writeJson } from "../s3/objects.ts";
import * as db from "./records.ts";

/**
 * Creates the store of closed runs that wait for a tree. Several partitions share the writes, because a single
 * partition takes a thousand writes a second.
 */
export function createLeafStore(connection: db.TableConnection): LeafStore {
  const leaves = leafRecord(connection);
  return {
    put: (leaf) => db.writeItem(leaves.put({ ...leaf, format: db.FORMAT, digit: digitOf(leaf.execution) })),
  };
}

const digits = Array.from("0123456789abcdef");

function digitOf(execution: string): string {
  return createHash("sha256").update(execution).digest("hex").charAt(0);
}

const maxParallelDeletes = 32;

/**
 * Creates the store of trees. The roots and their stamps are in the table, and the leaves under a root are one object
 * in the bucket.
 */
export function createRootStore(connection: db.TableConnection, bucket: BucketConnection): RootStore {
  const [leaves, roots, stamps] = [leafRecord(connection), rootRecord(connection), stampRecord(connection)];
  return {
    async pending(limit) {
      const count = Math.ceil(limit / digits.length);
      const found = await Promise.all(
        digits.map((digit) => db.readSome(leaves.query.record({ digit }), { consistent: true, count })),
      );
      return found.flat().slice(0, limit).map(pendingOf);
    },
    async removePending(gone) {
      const remove = ({ execution, closedAt }: PendingLeaf) =>
        db.writeItem(leaves.delete({ execution, closedAt, digit: digitOf(execution) }));
      await engine.atOnce(gone, remove, maxParallelDeletes);
    },
    createTree: (tree, under) => writeJson(bucket, treeKey(tree), treeText(under)),
    create: (root) => db.writeIf(roots.create({ ...root, format: db.FORMAT })),
    async list({ limit, after }) {
      const all = roots.query.record({}).lt({ number: beforeNumber(after) });
      return (await db.readSome(all, { consistent: true, order: "desc", count: limit })).map(rootOf);
    },
    createStamp: (stamp) => db.writeIf(stamps.create({ ...stamp, format: db.FORMAT })),
    async stamps({ limit, after }) {
      const all = stamps.query.record({}).lt({ number: beforeNumber(after) });
      return (await db.readSome(all, { consistent: true, order: "desc", count: limit })).map(stampOf);
    },
  };
}

/** A number that is greater than the number of every root. */
const afterAllNumbers = 9_999_999_999;

function beforeNumber(after: string | undefined): number {
  return after === undefined ? afterAllNumbers : Number(after);
}

/** The number of trees whose leaves stay in memory: a verification of many runs reads the same tree many times. */
const maxTreesKept = 3;

/** Creates a reader of roots. It also reads the leaves under a root, and checks them against the hash of the tree. */
export function createRoots(connection: db.TableConnection, bucket: BucketConnection): engine.Roots {
  const [roots, stamps] = [rootRecord(connection), stampRecord(connection)];
  const trees = new LRUCache<string, readonly engine.Leaf[]>({ max: maxTreesKept });
  return {
    read: (number) => db.findItem(roots.get({ number }), rootOf),
    stamp: (number) => db.findItem(stamps.get({ number }), stampOf),
    async leaves(tree) {
      const key = treeKey(tree);
      const known = trees.get(key) ?? leavesIn(await readText(bucket, key), tree);
      trees.set(key, known);
      return known;
    },
  };
}

function treeKey({ number, tree }: engine.TreeName): string {
  return `proofs/trees/${number}/${tree}.json`;
}

function treeText(leaves: readonly engine.Leaf[]): string {
  return JSON.stringify({ format: db.FORMAT, leaves: leaves.map(({ execution, hash }) => [execution, hash]) });
}

function leavesIn(text: string | undefined, { number, size, tree }: engine.TreeName): engine.Leaf[] {
  if (text === undefined)
    throw new engine.TreeDamaged(`the leaves of tree ${number} are missing - the bucket was changed`);
  const leaves = parseLeaves(text);
  if (leaves?.length === size && engine.hashTree(leaves.map(engine.leafBytes)).toString("hex") === tree) return leaves;
  throw new engine.TreeDamaged(`the stored leaves of tree ${number} are others than those that its root covers`);
}

/**
 * Reads the leaves in the text of a tree. Returns undefined if the text differs from what `treeText` writes for these
 * leaves.
 */
function parseLeaves(text: string): engine.Leaf[] | undefined {
  try {
    const { leaves } = JSON.parse(text) as { leaves: [string, string][] };
    const read = leaves.map(([execution, hash]) => ({ execution, hash }));
    return treeText(read) === text ? read : undefined;
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TypeError) return undefined;
    throw error;
  }
}

function pendingOf(item: db.Stored<typeof leafRecord>): PendingLeaf {
  const { execution, hash, closedAt } = db.requireFormat(`the leaf of execution ${item.execution}`, item);
  return { execution, hash, closedAt };
}

function rootOf(item: db.Stored<typeof rootRecord>): engine.StoredRoot {
  const { number, text, signature } = db.requireFormat(`root ${item.number}`, item);
  return { number, text, signature };
}

function stampOf(item: db.Stored<typeof stampRecord>): engine.Stamp {
  const { number, token, at, delayMs } = db.requireFormat(`the stamp of root ${item.number}`, item);
  return { number, token, at, delayMs };
}

const leafRecord = db.record("leaf", db.texts("digit", "closedAt", "execution", "hash"), {
  record: db.tableKeys("LEAF#{digit}", "{closedAt}#{execution}"),
});

const rootRecord = db.record(
  "root",
  { number: db.versionNumber, ...db.texts("text", "signature") },
  { record: db.tableKeys("ROOT", "N#{number}") },
);

const stampRecord = db.record(
  "stamp",
  { number: db.versionNumber, ...db.texts("token", "at"), ...db.numbers("delayMs") },
  { record: db.tableKeys("STAMP", "N#{number}") },
);

/** Creates the store of the progress of the daily check of all chains. */
export function createDailyCheckStore(connection: db.TableConnection): DailyCheckStore {
  const checks = checkRecord(connection);
  return {
    read: () => db.findItem(checks.get({}), checkOf),
    write(check, known) {
      const put = checks.put({ ...check, format: db.FORMAT });
      return db.writeIf(put.where(db.isUnchanged({ revision: known?.revision })));
    },
  };
}

function checkOf(item: db.Stored<typeof checkRecord>): DailyCheck {
  const { format: _, ...check } = db.requireFormat("the progress of the daily check", item);
  return check;
}

const checkRecord = db.record(
  "daily-check",
  {
    ...db.texts("day"),
    ...db.optionalTexts("cursor"),
    ...db.numbers("runs", "broken", "revision"),
    brokenRuns: db.requiredValue<string[]>(),
    isDone: { type: "boolean", required: true } as const,
  },
  { record: db.tableKeys("DAILYCHECK", "DAILYCHECK") },
);
