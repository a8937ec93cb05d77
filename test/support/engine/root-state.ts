import {
  hashTree,
  type Leaf,
  leafBytes,
  type Roots,
  type Stamp,
  type StoredRoot,
  StoreUnavailable,
  TreeDamaged,
} from "@nova/engine";
import type { LeafStore, PendingLeaf, RootStore } from "@nova/service";
import type { Caller } from "./scheduler.ts";

/** Roots, the leaves under them, stamps and pending leaves in memory, with the same conditions as in DynamoDB and S3. */
export class RootState {
  readonly pending = new Map<string, PendingLeaf>();
  readonly roots = new Map<number, StoredRoot>();
  readonly trees = new Map<string, readonly Leaf[]>();
  readonly stamps = new Map<number, Stamp>();

  port(caller: Caller): Roots {
    return {
      read: (number) => caller.call({ name: `root ${number}`, effect: () => this.roots.get(number), outage }),
      stamp: (number) => caller.call({ name: `stamp of ${number}`, effect: () => this.stamps.get(number), outage }),
      leaves: ({ number, size, tree }) =>
        caller.call({
          name: `leaves of ${number}`,
          outage,
          effect: () => {
            const leaves = this.trees.get(tree) ?? [];
            if (leaves.length === size && hashTree(leaves.map(leafBytes)).toString("hex") === tree) return leaves;
            throw new TreeDamaged(`the leaves of tree ${number} are others`);
          },
        }),
    };
  }

  leaves(caller: Caller): LeafStore {
    return {
      put: (leaf) =>
        caller.call({
          name: `leaf of ${leaf.execution}`,
          outage,
          effect: () => void this.pending.set(keyOf(leaf), Object.freeze({ ...leaf })),
        }),
    };
  }

  store(caller: Caller): RootStore {
    const put = (name: string, effect: () => boolean) => caller.call({ name, effect, outage, repeats: true });
    return {
      pending: (limit) =>
        caller.call({ name: "pending", effect: () => [...this.pending.values()].slice(0, limit), outage }),
      removePending: (leaves) =>
        caller.call({
          name: `remove ${leaves.length} pending`,
          outage,
          effect: () => {
            for (const leaf of leaves) this.pending.delete(keyOf(leaf));
          },
        }),
      createTree: ({ number, tree }, leaves) =>
        caller.call({ name: `tree ${number}`, effect: () => void this.trees.set(tree, [...leaves]), outage }),
      create: (root) => put(`create root ${root.number}`, () => putNew(this.roots, root)),
      createStamp: (stamp) => put(`create stamp ${stamp.number}`, () => putNew(this.stamps, stamp)),
      list: (range) => caller.call({ name: "roots", effect: () => falling(this.roots, range), outage }),
      stamps: (range) => caller.call({ name: "stamps", effect: () => falling(this.stamps, range), outage }),
    };
  }
}

const outage = () => new StoreUnavailable("DynamoDB does not answer");

function keyOf({ closedAt, execution }: PendingLeaf): string {
  return `${closedAt}#${execution}`;
}

function putNew<T extends { number: number }>(stored: Map<number, T>, item: T): boolean {
  if (stored.has(item.number)) return false;
  stored.set(item.number, Object.freeze({ ...item }));
  return true;
}

function falling<T extends { number: number }>(
  stored: Map<number, T>,
  { limit, after = "9999999999" }: Parameters<RootStore["list"]>[0],
): T[] {
  const before = [...stored.values()].filter(({ number }) => number < Number(after));
  return before.sort((a, b) => b.number - a.number).slice(0, limit);
}
