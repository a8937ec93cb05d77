import { type Ports, readTrace } from "@nova/engine";
import { describe, expect, it } from "vitest";
import { action, flow, lines, mapOver } from "../../support/engine/flows.ts";
import { atOnce } from "../../support/engine/scheduler.ts";
import { given, Story, succeeds } from "../../support/engine/story.ts";

const mapped = flow("mapped", [mapOver("m", [action("i")], [], { maxConcurrency: 40 })], lines("start > m > end"));

/** A run of a map of so many items; every third of them says so. */
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

/** The trace, and how the chain was asked for it. */
async function traced(story: Story, change: (ports: Ports) => void = () => undefined) {
  const ports = { ...story.world.ports(atOnce) };
  const asked = { links: 0, entries: 0 };
  const { chain } = ports;
  ports.chain = {
    ...chain,
    links: (execution, scope) => {
      asked.links++;
      return chain.links(execution, scope);
    },
    entries: (execution, tips) => {
      asked.entries++;
      return chain.entries(execution, tips);
    },
  };
  change(ports);
  return { trace: await readTrace(ports, story.id, { full: true }), asked };
}

describe("the trace of a map", () => {
  it("of many items asks for all of them at once, and tells the same as one by one", async () => {
    const story = await ran(60);
    const { trace, asked } = await traced(story);
    expect(asked).toEqual({ links: 1, entries: 1 });
    const branches = trace.entries[1]?.branches ?? [];
    expect(branches.map(({ branch, entries }) => [branch, entries.map(({ changes }) => changes.set.text)])).toEqual(
      Array.from({ length: 60 }, (_, i) => [String(i), [`{"i":${i}}`]]),
    );
    const oneByOne = await traced(story, ({ chain }) => {
      const { read } = chain;
      chain.read = async (at) => {
        const { entry, ...link } = await read(at);
        if (!entry || at.seq !== 2) return { ...link, ...(entry && { entry }) };
        const { branches: _, ...contents } = entry.contents;
        return { ...link, entry: { ...entry, contents } };
      };
    });
    expect(oneByOne.asked).toEqual({ links: 61, entries: 0 });
    expect(JSON.stringify(oneByOne.trace)).toBe(JSON.stringify(trace));
  });

  it("of a few items asks for each", async () => {
    const { asked } = await traced(await ran(5));
    expect(asked).toEqual({ links: 6, entries: 0 });
  });

  it("that goes on asks for each, and tells what has not begun as empty", async () => {
    const list = JSON.stringify({ list: Array.from({ length: 60 }, (_, i) => i) });
    const story = await new Story(mapped).start(list);
    await story.finish(story.deliver("m", 0));
    await story.finish(story.deliver("i", 0, { scope: "/m@1.7" }));
    const { trace, asked } = await traced(story);
    expect(asked).toEqual({ links: 61, entries: 0 });
    const begun = trace.entries[1]?.branches?.filter(({ entries }) => entries.length > 0);
    expect(begun?.map(({ branch }) => branch)).toEqual(["7"]);
  });
});
