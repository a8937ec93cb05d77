// @module-tag deep
import { readTrace, restartExecution, type Verification, verifyExecution } from "@nova/engine";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { inARow, openTestCloud, type TestCloud } from "../support/cloud.ts";
import {
  altered,
  headIn,
  leafAt,
  leavesOf,
  otherTypes,
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
/** The run that is attacked, with its child run. The variable `other` is a later run of the same workflow. */
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

/**
 * Verifies the run after an attack: each item of `replaced` overwrites the item with the same key, and items of `gone`
 * are removed.
 */
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

/** Returns "refused" if the table itself refused the forged item. Throws any other error. */
function refusedByTable(error: Error): "refused" {
  if (error.name === "ValidationException") return "refused";
  throw error;
}

/** Returns whether the verification has not noticed the attack. */
function isBelieved(verdict: Verification | Error): boolean {
  return !(verdict instanceof Error) && verdict.state !== "broken";
}

/** Returns whether the verification found a problem and named it. False if the verification threw an error. */
function isNamed(verdict: Verification | Error): boolean {
  return !(verdict instanceof Error) && verdict.problem !== undefined;
}

/**
 * Returns whether an attribute says nothing about the actions of the run. The verification need not notice changes of
 * such an attribute.
 */
function isBookkeeping(item: Item, [name = "", ...rest]: Path): boolean {
  // ElectroDB writes these attributes, and the chain does not read them.
  if (name === "__edb_e__" || name === "__edb_v__") return true;
  // An entry without contents may have an empty map or no map, so this change means nothing.
  if (name === "contents" && rest.length === 0) return true;
  // After an entry is written, no code reads its turn, and no response of the API shows the turn. Only the key of the
  // turn matters.
  if (item.kind?.S === "0") return !["pk", "sk", "partition", "scope", "seq"].includes(name);
  if (item.sk?.S !== "E") return false;
  // These attributes offer the sandbox of this run to other runs.
  if (name === "idle" || (name === "open" && item.open?.S?.startsWith("idle"))) return true;
  // The queue, the close and the erasure use these attributes; no response of the API shows them.
  return rest.length === 0 && ["leaver", "taker", "pools", "admission", "endPublished", "erased"].includes(name);
}

const isLink = ({ pk }: Item) => pk?.S?.startsWith("C#") === true;
const chainItems = () => own.items.filter(isLink);
const records = () => own.items.filter(({ pk }) => pk?.S === `E#${own.id}`);
const attacked = () => [...chainItems(), ...records()];
/**
 * Returns the corresponding item of the other run: its key differs from the key of `item` only in the ids of the runs.
 */
const twinOf = (item: Item) => {
  const name = nameOf(item).replaceAll(own.id, other.id).replaceAll(own.child, other.child);
  return other.items.find((one) => nameOf(one) === name);
};

it("the verification reports a run that was not changed as `anchored`", async () => {
  expect(await verifyExecution(cloud.ports, own.id)).toMatchObject({ state: "anchored", erased: [] });
  expect(await told()).toMatchObject({ state: "anchored", erased: [] });
  expect(chainItems().length).toBeGreaterThan(25);
});

describe("the verification detects the changes of an attacker without the signing key", { timeout: 300_000 }, () => {
  it("if one value of a stored item was changed", async () => {
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

  it("if one value of a stored item has another type", async () => {
    const believed: string[] = [];
    for (const item of attacked())
      for (const path of leavesOf(item)) {
        if (path[0] === "pk" || path[0] === "sk") continue;
        for (const other of otherTypes(leafAt(item, path) ?? { S: "" })) {
          const verdict = await told([withLeaf(item, path, other)]).catch(refusedByTable);
          // This forgery is not possible: the table refuses other types in index keys, and the local table cannot store
          // bytes.
          if (verdict === "refused") continue;
          const isFine = isBookkeeping(item, path)
            ? !(verdict instanceof Error)
            : !isBelieved(verdict) && isNamed(verdict);
          if (!isFine) believed.push(`${nameOf(item)} ${path.join(".")} ${JSON.stringify(other)}: ${verdict}`);
        }
      }
    expect(believed).toEqual([]);
  });

  it("if one value of a stored item was removed, even a value that an erasure would remove", async () => {
    const believed: string[] = [];
    for (const item of attacked())
      for (const path of leavesOf(item)) {
        if (path[0] === "pk" || path[0] === "sk" || isBookkeeping(item, path)) continue;
        const verdict = await told([withLeaf(item, path[0] === "contents" ? path.slice(0, 2) : path, undefined)]);
        if (isBelieved(verdict) || !isNamed(verdict)) believed.push(`${nameOf(item)} ${path.join(".")}`);
      }
    expect(believed).toEqual([]);
  });

  it("if one value of a stored item was copied from another run", async () => {
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

  it("if a stored item was removed, or was replaced by a copy of another item of this run or another run", async () => {
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
    "if a hashed field of an entry was changed and all hashes were recomputed (signature: %s)",
    async (signature) => {
      const believed: string[] = [];
      const tried = new Set<string>();
      for (const item of chainItems()) {
        const head = headIn(item);
        if (!head) continue;
        for (const field of signature === "kept" ? Object.keys(head) : ["execution_time_ms"]) {
          for (const change of ["another", "gone"]) {
            // Forges one entry of each type only, because each change recomputes the whole chain, which is slow.
            const kind = `${head.node_type} ${field} ${change}`;
            if (tried.has(kind)) continue;
            tried.add(kind);
            const { [field]: value, ...rest } = head;
            const text = JSON.stringify(change === "gone" ? rest : { ...head, [field]: otherValue(value) });
            const forged = rehashed(
              own.items.map((one) => (one === item ? withLeaf(item, ["head"], { S: text }) : one)),
            ).map((one) => (one.signature ? withLeaf(one, ["signature"], signed(one, signature)) : one));
            if (JSON.stringify(forged.map(({ head }) => head)) === JSON.stringify(own.items.map(({ head }) => head)))
              continue; // The correction of the hashes has undone this change of a digest.
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

  it("if a run has the chain of another run, with the record of either run", async () => {
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

  it("if the last entries of a chain were removed, with or without changes of the run's record", async () => {
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

it("the verification reports contents that were added to an entry", async () => {
  const close = chainItems().find(
    (item) => headIn(item)?.node_type === "close" && item.pk?.S === `C#${own.id}`,
  ) as Item;
  const { seq } = headIn(close) as { seq: number };
  const added = withLeaf(close, ["contents", "error"], { M: { text: { S: '{"message":"it was a failure"}' } } });
  expect(await told([added])).toMatchObject({ state: "broken", problem: { seq } });
});

describe("a failed run that was restarted", () => {
  /** A failed run, its record, and the id of its restart, which reuses outcomes of the run. */
  let failing: { id: string; record: Item; restart: string };

  beforeAll(async () => {
    const version = await cloud.publish(inARow("failing", { a: "print('fine')", b: "raise ValueError('no total')" }));
    const { execution: source } = await cloud.run(version);
    const { execution } = await restartExecution(cloud.ports, { source, version, by: "ann" });
    await cloud.untilEnd(execution.id);
    const record = (await table.itemsOf(source.id)).find(({ pk }) => pk?.S?.startsWith("E#")) as Item;
    failing = { id: source.id, record, restart: execution.id };
  });

  const verdictWith = async (record: Item): Promise<Verification> => {
    try {
      await table.put([record]);
      return await verifyExecution(cloud.ports, failing.id);
    } finally {
      await table.put([failing.record]);
    }
  };
  const named = (...ids: string[]) => ({ L: ids.map((S) => ({ S })) });

  it("is valid, and so is its restart", async () => {
    expect(await verdictWith(failing.record)).toMatchObject({ state: "anchored", erased: [] });
    expect(await verifyExecution(cloud.ports, failing.restart)).toMatchObject({ state: "anchored" });
    expect((await cloud.ports.executions.get(failing.id))?.restarts).toEqual([failing.restart]);
  });

  it("is not valid if its error was replaced by the text that an erasure writes", async () => {
    const forged = withLeaf(failing.record, ["error", "message"], { S: "its words were erased" });
    const message = expect.stringMatching(/its "error" is another/);
    expect(await verdictWith(forged)).toMatchObject({ state: "broken", problem: { message } });
  });

  it("is valid only if its record names exactly its restarts", async () => {
    const { record, restart } = failing;
    for (const forged of [undefined, named(), named(own.id), named(restart, own.id), named(restart, "exec_none")])
      expect(await verdictWith(withLeaf(record, ["restarts"], forged))).toMatchObject({
        state: "broken",
        problem: { seq: 0, message: expect.stringMatching(/its "restarts"/) },
      });
    const twice = withLeaf(record, ["restarts"], named(restart, restart));
    expect(await verdictWith(twice)).toMatchObject({ state: "broken" });
  });

  it("makes its restart invalid if its record does not name this restart", async () => {
    const { id, record, restart } = failing;
    try {
      await table.put([withLeaf(record, ["restarts"], undefined)]);
      expect(await verifyExecution(cloud.ports, restart)).toMatchObject({
        state: "broken",
        problem: { seq: 0, message: `the record of its source ${id} was changed: its "restarts" lack ${restart}` },
      });
    } finally {
      await table.put([record]);
    }
  });

  it("is listed only once, even if an attacker adds copies of its record", async () => {
    const { id, record } = failing;
    const planted = { ...record, sk: { S: "E2" }, status: { S: "completed" }, version: { N: "7" }, nodes: { N: "9" } };
    const elsewhere = { ...planted, pk: { S: `X#${id}` }, sk: { S: "E" } };
    const foreign = { ...planted, clientKey: { S: "C#acme" }, client: { S: "acme" } };
    await table.put([planted, elsewhere, { ...foreign, sk: { S: "E3" } }]);
    const queries = [{ workflow: "failing" }, { client: "default" }, { client: "acme" }, {}];
    for (const query of [...queries, { workflow: "failing", statuses: ["completed" as const] }]) {
      const { items } = await cloud.ports.executions.list(query);
      const shown = items.filter((one) => one.id === id).map(({ status, version }) => [status, version]);
      expect(shown).toEqual("statuses" in query || query.client === "acme" ? [] : [["failed", 1]]);
    }
  });

  it("is never listed for another workflow or client, even if an attacker forges the index keys of its record", async () => {
    const forged = { ...failing.record, workflowKey: { S: "W#forged" }, clientKey: { S: "C#acme" } };
    await table.put([forged]);
    try {
      for (const query of [{ workflow: "forged" }, { client: "acme" }]) {
        const { items, unreadable } = await cloud.ports.executions.list(query);
        expect(items.map(({ id }) => id)).not.toContain(failing.id);
        expect(unreadable).toEqual([failing.id]);
      }
      const message = expect.stringMatching(/another workflowKey/);
      expect(await verifyExecution(cloud.ports, failing.id)).toMatchObject({ state: "broken", problem: { message } });
    } finally {
      await table.put([failing.record]);
    }
  });

  it("shows no running node after its end, even if an attacker forges a turn", async () => {
    const { id, record } = failing;
    const [turn] = (await table.itemsOf(id)).filter(({ kind }) => kind?.S === "0") as [Item];
    const sk = { S: "L##0000000099#0" };
    await table.put([
      { ...turn, sk, seq: { N: "99" }, state: { S: "held" } },
      { ...record, open: { S: "open" } },
    ]);
    expect((await readTrace(cloud.ports, id)).atWork).toEqual({ count: 0, nodes: [], maps: [] });
    await table.put([record]);
  });
});

it("the verification reports a copy of a step, which a trace would show as a second step", async () => {
  const step = chainItems().find(({ step }) => step !== undefined) as Item;
  const { scope, seq } = step;
  const sk = { S: `S#${scope?.S}#${seq?.N?.padStart(10, "0")}#0000` };
  const twin = { ...step, sk, step: { N: "0" } };
  const message = expect.stringMatching(/is there twice/);
  expect(await told([twin])).toMatchObject({ state: "broken", problem: { message } });
});
