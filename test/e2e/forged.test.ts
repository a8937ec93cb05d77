import { type Verification, verifyExecution } from "@nova/engine";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openTestCloud, type TestCloud } from "../support/cloud.ts";
import {
  altered,
  headIn,
  leafAt,
  leavesOf,
  otherValue,
  type Path,
  rehashed,
  withLeaf,
} from "../support/forging/edits.ts";
import { heldChain } from "../support/forging/held-chain.ts";
import { type Item, nameOf, RawTable } from "../support/forging/raw-table.ts";
import { action, ways } from "../support/forked.ts";

let cloud: TestCloud;
let table: RawTable;
/** The run that is attacked, the one that it ran, and a later run of the same workflow. */
let own: { id: string; child: string; items: Item[] };
let other: { id: string; child: string; items: Item[] };

const nodes = [
  { id: "start", type: "start" },
  action("f", "context['big'] = 'x' * 9000; print('said')"),
  action("a", "context['a'] = 1"),
  action("b", "context['b'] = 2"),
  action("j", "raise ValueError('no total')", { effects: false, retry: { attempts: 2 }, onError: "each" }),
  { id: "each", type: "map", items: "list", nodes: [action("square", "context['n'] = 1")], edges: [] },
  { id: "call", type: "workflow", workflow: "forged-child" },
  { id: "d", type: "decision", code: "context['branch_decision'] = 'yes'" },
  { id: "end", type: "end" },
];
const edges = [
  ...ways("start > f > a > j > each > call > d", "f > b > j"),
  { from: "d", to: "end", condition: "yes" },
  { from: "d", to: "end", condition: "default" },
];

beforeAll(async () => {
  cloud = await openTestCloud();
  table = new RawTable();
  const child = [{ id: "start", type: "start" }, action("x", "context['x'] = 1"), { id: "end", type: "end" }];
  await cloud.publish({ id: "forged-child", nodes: child, edges: ways("start > x > end") });
  const version = await cloud.publish({ id: "forged", nodes, edges });
  const ran = async () => {
    const trace = await cloud.run(version, '{"list":[1,2]}');
    const [id, inner] = [trace.execution.id, trace.entries.find(({ child }) => child)?.child?.execution_id ?? ""];
    return { id, child: inner, items: await table.itemsOf(id, inner) };
  };
  [own, other] = [await ran(), await ran()];
});
afterAll(() => cloud.close());

/** What the check says of the run with these items in place of those of the same keys, and without `gone`. */
async function told(replaced: readonly Item[] = [], gone: readonly Item[] = []): Promise<Verification | Error> {
  const chain = heldChain(chainItems(), replaced.filter(isLink), gone);
  const put = replaced.filter((item) => !isLink(item));
  try {
    await table.put(put);
    return await verifyExecution({ ...cloud.ports, chain }, own.id).catch((error: Error) => error);
  } finally {
    await table.put(own.items.filter((item) => put.some((one) => nameOf(one) === nameOf(item))));
  }
}

/** A verdict that somebody could take for "this run is whole". */
function isBelieved(verdict: Verification | Error): boolean {
  return !(verdict instanceof Error) && verdict.state !== "broken";
}

/** Whether a verdict says where: the number of a link, or in a sentence of the store. */
function isNamed(verdict: Verification | Error): boolean {
  return verdict instanceof Error ? /exec_|step|link/.test(verdict.message) : verdict.problem !== undefined;
}

/** Attributes that say nothing of the run. */
function isBookkeeping(item: Item, [name = "", ...rest]: Path): boolean {
  // Marks of the mapper, which the chain does not read.
  if (name === "__edb_e__" || name === "__edb_v__") return true;
  // No contents are none, however that is written.
  if (name === "contents" && rest.length === 0) return true;
  // A turn is the right to write an entry. Once that is written nobody reads the turn, and no answer shows it.
  if (item.kind?.S === "0") return !["pk", "sk", "partition", "scope", "seq"].includes(name);
  if (item.sk?.S !== "E") return false;
  // A sandbox that it has left for another run.
  if (name === "idle" || (name === "open" && item.open?.S?.startsWith("idle"))) return true;
  // Keys of indexes: where lists look for the record. What a queue and a closer note for themselves.
  const ofLists = ["workflowKey", "clientKey", "ordered", "leaver", "taker"];
  return rest.length === 0 && [...ofLists, "pools", "admission", "endPublished", "erased"].includes(name);
}

/** Erasing takes contents away, and of some steps their text: both are told of. */
const isErasable = (item: Item, [name]: Path) => name === "contents" || (name === "text" && item.step !== undefined);

const isLink = ({ pk }: Item) => pk?.S?.startsWith("C#") === true;
const chainItems = () => own.items.filter(isLink);
const records = () => own.items.filter(({ pk }) => pk?.S === `E#${own.id}`);
const attacked = () => [...chainItems(), ...records()];
/** The item of the later run at the same place. */
const twinOf = (item: Item) => {
  const name = nameOf(item).replaceAll(own.id, other.id).replaceAll(own.child, other.child);
  return other.items.find((one) => nameOf(one) === name);
};

it("calls the run anchored as long as nobody touches it", async () => {
  expect(await verifyExecution(cloud.ports, own.id)).toMatchObject({ state: "anchored", erased: [] });
  expect(await told()).toMatchObject({ state: "anchored", erased: [] });
  expect(chainItems().length).toBeGreaterThan(25);
});

describe("whoever can write the table and has no key is found out", { timeout: 180_000 }, () => {
  it("where one value of one item is another", async () => {
    const believed: string[] = [];
    for (const item of attacked())
      for (const path of leavesOf(item)) {
        if (path[0] === "pk" || path[0] === "sk" || isBookkeeping(item, path)) continue;
        const leaf = leafAt(item, path);
        const verdict = await told([withLeaf(item, path, altered(leaf ?? { S: "" }))]);
        if (isBelieved(verdict) || !isNamed(verdict)) believed.push(`${nameOf(item)} ${path.join(".")}`);
      }
    expect(believed).toEqual([]);
  });

  it("where one value is gone, unless that was a content: then it is listed as erased", async () => {
    const believed: string[] = [];
    for (const item of attacked())
      for (const path of leavesOf(item)) {
        if (path[0] === "pk" || path[0] === "sk" || isBookkeeping(item, path)) continue;
        const verdict = await told([withLeaf(item, path[0] === "contents" ? path.slice(0, 2) : path, undefined)]);
        const isListed = isErasable(item, path) && !(verdict instanceof Error) && verdict.erased.length === 1;
        if (isBelieved(verdict) && !isListed) believed.push(`${nameOf(item)} ${path.join(".")}`);
      }
    expect(believed).toEqual([]);
  });

  it("where one value is that of another run at the same place", async () => {
    const believed: string[] = [];
    for (const item of attacked())
      for (const path of leavesOf(item)) {
        if (isBookkeeping(item, path)) continue;
        const leaf = leafAt(twinOf(item), path);
        if (path[0] === "pk" || leaf === undefined) continue;
        if (JSON.stringify(leaf) === JSON.stringify(leafAt(item, path))) continue;
        if (isBelieved(await told([withLeaf(item, path, leaf)]))) believed.push(`${nameOf(item)} ${path.join(".")}`);
      }
    expect(believed).toEqual([]);
  });

  it("where an item is gone, or is that of another run or of another place", async () => {
    const believed: string[] = [];
    const entries = chainItems().filter(({ kind }) => kind?.S !== "0");
    for (const item of entries) {
      const { pk, sk } = item as { pk: { S: string }; sk: { S: string } };
      const twin = twinOf(item);
      if (isBelieved(await told([], [item]))) believed.push(`without ${nameOf(item)}`);
      if (twin && isBelieved(await told([{ ...twin, pk, sk }]))) believed.push(`twin at ${nameOf(item)}`);
      const placed = twin && { ...twin, pk, sk, partition: { S: pk.S.slice(2) } };
      if (placed && isBelieved(await told([placed]))) believed.push(`twin placed at ${nameOf(item)}`);
      for (const stranger of entries) {
        if (stranger === item || stranger.head?.S === undefined || item.head?.S === undefined) continue;
        const { partition, scope, seq, kind } = item;
        const moved = { ...stranger, pk, sk, partition, scope, seq, kind } as Item;
        if (isBelieved(await told([moved]))) believed.push(`${nameOf(stranger)} at ${nameOf(item)}`);
      }
    }
    expect(believed).toEqual([]);
  });

  it.each(["kept", "dropped", "of another run"])(
    "where a field of a head is another, every hash is made anew, and the signature is %s",
    async (signature) => {
      const believed: string[] = [];
      const tried = new Set<string>();
      for (const item of chainItems()) {
        const head = headIn(item);
        if (!head) continue;
        for (const field of signature === "kept" ? Object.keys(head) : ["execution_time_ms"]) {
          for (const change of ["another", "gone"]) {
            // Of many entries of one type one is enough: each change makes a whole chain anew.
            const kind = `${head.node_type} ${field} ${change}`;
            if (tried.has(kind)) continue;
            tried.add(kind);
            const { [field]: value, ...rest } = head;
            const text = JSON.stringify(change === "gone" ? rest : { ...head, [field]: otherValue(value) });
            const forged = rehashed(
              own.items.map((one) => (one === item ? withLeaf(item, ["head"], { S: text }) : one)),
            ).map((one) => (one.signature ? withLeaf(one, ["signature"], signed(one, signature)) : one));
            if (JSON.stringify(forged.map(({ head }) => head)) === JSON.stringify(own.items.map(({ head }) => head)))
              continue; // A digest that was made right again.
            const verdict = await told(forged);
            if (isBelieved(verdict) || !isNamed(verdict)) believed.push(`${nameOf(item)} ${field} ${change}`);
          }
        }
      }
      expect(believed).toEqual([]);
    },
  );

  const signed = (item: Item, how: string) =>
    ({ kept: item.signature, dropped: undefined, "of another run": twinOf(item)?.signature })[how];

  it("where the chain of another run lies over it, with its record or with its own", async () => {
    const moved = other.items.map(
      (item) =>
        JSON.parse(JSON.stringify(item).replaceAll(other.id, own.id).replaceAll(other.child, own.child)) as Item,
    );
    const copied = other.items.map((item) => {
      const place = (text = "") => ({ S: text.replaceAll(other.id, own.id).replaceAll(other.child, own.child) });
      const partition = item.partition && { partition: place(item.partition.S) };
      return { ...item, pk: place(item.pk?.S), ...partition } as Item;
    });
    for (const items of [copied, moved, rehashed(moved)]) {
      const chain = items.filter(isLink);
      const gone = own.items.filter((item) => !items.some((one) => nameOf(one) === nameOf(item)));
      for (const put of [items, chain]) expect(await told(put, gone)).toMatchObject({ state: "broken", problem: {} });
    }
  });

  it("where the end of the chain is gone, whatever the record says then", async () => {
    const [record] = records() as [Item];
    const main = chainItems()
      .filter(({ pk, kind }) => pk?.S === `C#${own.id}` && kind)
      .sort((one, two) => (nameOf(one) < nameOf(two) ? -1 : 1));
    const without = (...names: string[]) =>
      names.reduce((changed: Item, name) => withLeaf(changed, [name], undefined), record);
    const open = { open: { S: "open" }, status: { S: "running" } };
    const stories = {
      "as it is": record,
      "without a tip": without("tip"),
      "without an end": without("tip", "endedAt", "durationMs", "nodes", "error"),
      "open with a tip": { ...record, ...open },
      "open as it never ended": { ...without("tip", "endedAt", "durationMs", "nodes", "error"), ...open },
    };
    const seqOf = ({ seq }: Item) => Number(seq?.N);
    const last = Math.max(...main.filter(({ scope }) => scope?.S === "").map(seqOf));
    for (const cut of [last, last - 1, last - 3]) {
      const gone = main.filter((item) => item.scope?.S === "" && seqOf(item) >= cut);
      for (const [what, put] of Object.entries(stories))
        expect([what, await told([put as Item], gone)]).toMatchObject([
          what,
          { state: "broken", problem: { seq: cut } },
        ]);
    }
  });
});

it("finds a content that no head knows", async () => {
  const close = chainItems().find(
    (item) => headIn(item)?.node_type === "close" && item.pk?.S === `C#${own.id}`,
  ) as Item;
  const { seq } = headIn(close) as { seq: number };
  const added = withLeaf(close, ["contents", "error"], { M: { text: { S: '{"message":"it was a failure"}' } } });
  expect(await told([added])).toMatchObject({ state: "broken", problem: { seq } });
});
