import { type Ports, readEntries, readState, verifyExecution } from "@nova/engine";
import { describe, expect, it } from "vitest";
import { withKinds } from "../../../packages/engine/src/kinds/table.ts";
import { closeExecution } from "../../../packages/engine/src/protocol/close.ts";
import { action, flow, lines, mapOver } from "../../support/engine/flows.ts";
import { atOnce } from "../../support/engine/scheduler.ts";
import { given, Story, succeeds } from "../../support/engine/story.ts";

const mapped = flow("mapped", [mapOver("m", [action("i")], [], { maxConcurrency: 40 })], lines("start > m > end"));

/** Executes a map with this number of items. Two of three items pause. */
async function ran(items: number): Promise<Story> {
  const scripts = {
    i: (request: Parameters<typeof given>[0]) => {
      const item = Number(given(request, "item"));
      return succeeds("i", String(item), { pauses: item % 3 });
    },
  };
  const story = await new Story(mapped, scripts).start(
    JSON.stringify({ list: Array.from({ length: items }, (_, i) => i) }),
  );
  await story.everything();
  return story;
}

/** Reads the chain of work and the state of the run. Counts the reads of both, which must be equal. */
async function traced(story: Story, change: (ports: Ports) => void = () => undefined) {
  const entries = await counted(story, change, (ports) => readEntries(ports, story.id, { full: true }));
  const state = await counted(story, change, (ports) => readState(ports, story.id));
  expect(state.asked).toEqual(entries.asked);
  return { trace: { ...state.found, ...entries.found }, asked: entries.asked };
}

async function counted<T>(story: Story, change: (ports: Ports) => void, read: (ports: Ports) => Promise<T>) {
  const ports = { ...story.world.ports(atOnce) };
  const asked = { links: 0, entries: 0, linksAt: 0 };
  const { chain } = ports;
  ports.chain = {
    ...chain,
    links: (execution, scope, from) => {
      asked.links++;
      return chain.links(execution, scope, from);
    },
    entries: (execution, tips) => {
      asked.entries++;
      return chain.entries(execution, tips);
    },
    linksAt: (execution, places) => {
      asked.linksAt++;
      return chain.linksAt(execution, places);
    },
  };
  change(ports);
  return { found: await read(ports), asked };
}

it("the verification of a run reads the items of a map only after their join, even if the run was cancelled", async () => {
  const story = await new Story(mapped).start(JSON.stringify({ list: [1, 2, 3] }));
  await story.finish(story.deliver("m", 0));
  await story.finish(story.deliver("i", 0, { scope: "/m@1.1" }));
  const verified = () =>
    counted(
      story,
      () => undefined,
      (ports) => verifyExecution(ports, story.id),
    );
  expect(await verified()).toMatchObject({ found: { state: "open", links: 2 }, asked: { links: 1 } });
  const ports = withKinds(story.world.ports(atOnce));
  await closeExecution(ports, { execution: story.id, status: "cancelled" });
  expect(await verified()).toMatchObject({ found: { state: "anchored", links: 5 }, asked: { links: 4 } });
});

describe("the close of a run whose map has many items", () => {
  it("reads many items with few requests, and writes one turn for each item that has not started", async () => {
    const story = await new Story(mapped).start(JSON.stringify({ list: Array.from({ length: 60 }, (_, i) => i) }));
    await story.finish(story.deliver("m", 0));
    await story.finish(story.deliver("i", 0, { scope: "/m@1.7" }));
    const ports = withKinds(story.world.ports(atOnce));
    const asked: string[] = [];
    const { tip, linksAt, putTurn } = ports.chain;
    ports.chain = {
      ...ports.chain,
      tip: (execution, scope) => tip(execution, scope).finally(() => asked.push(`tip "${scope}"`)),
      linksAt: (execution, places) => linksAt(execution, places).finally(() => asked.push("links")),
      putTurn: (at, turn, before) => putTurn(at, turn, before).finally(() => asked.push(`turn ${turn.state}`)),
    };
    expect(await closeExecution(ports, { execution: story.id, status: "cancelled" })).toMatchObject({
      status: "cancelled",
    });
    expect(asked.filter((one) => one.startsWith("turn"))).toHaveLength(62);
    expect(asked.filter((one) => one === "links")).toHaveLength(1);
    expect(asked.filter((one) => /^tip "\/m/.test(one))).toEqual(['tip "/m@1.7"']);
    await story.judge();
  });
});

describe("the state of a run with a map", () => {
  /**
   * Returns a function that reads the state. This function returns the progress of the map and the items whose entries
   * it read.
   */
  function watch(story: Story) {
    const ports = { ...story.world.ports(atOnce) };
    const { linksAt, entries } = ports.chain;
    let items: string[] = [];
    ports.chain = {
      ...ports.chain,
      entries: (execution, tips) => {
        items.push(...tips.map(({ scope }) => scope.split(".")[1] ?? ""));
        return entries(execution, tips);
      },
      linksAt: (execution, places) => {
        items.push(...places.map(({ scope }) => scope.split(".")[1] ?? ""));
        return linksAt(execution, places);
      },
    };
    return async () => {
      items = [];
      const { path, atWork } = await readState(ports, story.id);
      return { path, progress: atWork.maps[0], items: new Set(items) };
    };
  }

  async function openMap(items: number): Promise<Story> {
    const story = await new Story(mapped).start(JSON.stringify({ list: Array.from({ length: items }, (_, i) => i) }));
    await story.finish(story.deliver("m", 0));
    return story;
  }

  it("reads the entries of ended items only once", async () => {
    const story = await openMap(60);
    const read = watch(story);
    for (const item of ["7", "8"]) await story.finish(story.deliver("i", 0, { scope: `/m@1.${item}` }));
    const first = await read();
    expect([first.items.size, first.progress]).toEqual([60, expect.objectContaining({ items: 60, done: 2 })]);
    await story.finish(story.deliver("i", 0, { scope: "/m@1.9" }));
    const second = await read();
    expect([second.items.size, second.items.has("7"), second.items.has("9")]).toEqual([58, false, true]);
    expect([second.path, second.progress]).toEqual([
      ["start", "m", "i", "i", "i"],
      expect.objectContaining({ items: 60, done: 3 }),
    ]);
    const third = await read();
    expect([third.items.size, third.path, third.progress]).toEqual([57, second.path, second.progress]);
    await story.everything();
    const ended = await read();
    expect([ended.items.size, ended.path.length]).toEqual([57, 63]);
    expect(await read()).toEqual({ ...ended, items: new Set() });
  });

  it("shows every entry of the chain of work, although it reads the entries of ended items only once", async () => {
    const story = await openMap(60);
    const ports = { ...story.world.ports(atOnce) };
    const { linksAt } = ports.chain;
    const asked: number[] = [];
    ports.chain = {
      ...ports.chain,
      linksAt: (id, places) => linksAt(id, places).finally(() => asked.push(places.length)),
    };
    const shown = async () => (await readEntries(ports, story.id)).entries[1]?.branches;
    for (const item of ["7", "8"]) await story.finish(story.deliver("i", 0, { scope: `/m@1.${item}` }));
    const first = await shown();
    expect(first?.map(({ entries }) => entries.length).join("")).toBe(`${"0".repeat(7)}11${"0".repeat(51)}`);
    await story.finish(story.deliver("i", 0, { scope: "/m@1.9" }));
    const second = await shown();
    expect([second?.slice(0, 9), second?.[9]?.entries[0]?.node_id]).toEqual([first?.slice(0, 9), "i"]);
    expect(asked).toEqual([60, 58]);
    await story.everything();
    expect((await shown())?.slice(7, 10)).toEqual(second?.slice(7, 10));
  });
});

describe("the trace of a map", () => {
  it("of many items reads the items with few requests, even if the join has no list of branches", async () => {
    const story = await ran(60);
    const { trace, asked } = await traced(story);
    expect(asked).toEqual({ links: 1, entries: 1, linksAt: 0 });
    const branches = trace.entries[1]?.branches ?? [];
    expect(branches.map(({ branch, entries }) => [branch, entries.map(({ changes }) => changes.set.text)])).toEqual(
      Array.from({ length: 60 }, (_, i) => [String(i), [`{"i":${i}}`]]),
    );
    const withoutJoin = await traced(story, ({ chain }) => {
      const { read } = chain;
      chain.read = async (at) => {
        const { entry, ...link } = await read(at);
        if (!entry || at.seq !== 2) return { ...link, ...(entry && { entry }) };
        const { branches: _, ...contents } = entry.contents;
        return { ...link, entry: { ...entry, contents } };
      };
    });
    expect(withoutJoin.asked).toEqual({ links: 1, entries: 0, linksAt: 1 });
    expect(JSON.stringify(withoutJoin.trace)).toBe(JSON.stringify(trace));
  });

  it("of a few items reads each item with a request of its own", async () => {
    const { asked } = await traced(await ran(5));
    expect(asked).toEqual({ links: 6, entries: 0, linksAt: 0 });
  });

  it("that is unfinished reads many items with few requests, and lists each item that has not started as empty", async () => {
    const list = JSON.stringify({ list: Array.from({ length: 60 }, (_, i) => i) });
    const story = await new Story(mapped).start(list);
    await story.finish(story.deliver("m", 0));
    await story.finish(story.deliver("i", 0, { scope: "/m@1.7" }));
    const { trace, asked } = await traced(story);
    expect(asked).toEqual({ links: 1, entries: 0, linksAt: 1 });
    const begun = trace.entries[1]?.branches?.filter(({ entries }) => entries.length > 0);
    expect(begun?.map(({ branch }) => branch)).toEqual(["7"]);
  });

  it("reads the few items that are longer than all others one by one", async () => {
    const long = mapOver("m", [action("i"), action("j")], lines("i > j"), { maxConcurrency: 40 });
    const list = JSON.stringify({ list: Array.from({ length: 60 }, (_, i) => i) });
    const story = await new Story(flow("long", [long], lines("start > m > end"))).start(list);
    await story.finish(story.deliver("m", 0));
    await story.finish(story.deliver("i", 0, { scope: "/m@1.7" }));
    await story.finish(story.deliver("j", 1, { scope: "/m@1.7" }));
    await story.finish(story.deliver("i", 0, { scope: "/m@1.8" }));
    const { trace, asked } = await traced(story);
    expect(asked).toEqual({ links: 3, entries: 0, linksAt: 1 });
    const begun = trace.entries[1]?.branches?.filter(({ entries }) => entries.length > 0);
    expect(begun?.map(({ branch, entries }) => [branch, entries.length])).toEqual([
      ["7", 2],
      ["8", 1],
    ]);
  });
});
