import { type Ports, readTrace, readTraceLink, renderJson, type TraceEntry } from "@nova/engine";
import { beforeAll, describe, expect, it } from "vitest";
import { action, flow, lines, mapOver } from "../../support/engine/flows.ts";
import { atOnce } from "../../support/engine/scheduler.ts";
import { given, Story, succeeds } from "../../support/engine/story.ts";

const nodes = [action("a"), action("f"), action("b"), action("c"), mapOver("m", [action("i")], [])];
const workflow = flow("tree", nodes, lines("start > a > f > b > m > end", "f > c > m"));
let story: Story;
let reads: string[];

/** Records which parts of the chain are read. */
function watched(): Ports {
  const ports = story.world.ports(atOnce);
  const { chain } = ports;
  reads = [];
  return {
    ...ports,
    chain: {
      ...chain,
      read(at) {
        reads.push(`${at.scope}#${at.seq}`);
        return chain.read(at);
      },
      links(id, scope) {
        reads.push(`all of ${scope}`);
        return chain.links(id, scope);
      },
    },
  };
}

function everyEntry(entries: readonly TraceEntry[]): TraceEntry[] {
  return entries.flatMap((one) => [one, ...(one.branches ?? []).flatMap((branch) => everyEntry(branch.entries))]);
}

beforeAll(async () => {
  const echo = { i: (request: Parameters<typeof given>[0]) => succeeds("i", given(request, "item") ?? "") };
  story = await new Story(workflow, echo).start('{"list":[1.50,2]}');
  await story.everything();
});

describe("the trace of one link", () => {
  it.each([true, false])("is the same as in the whole trace at every place (full: %s)", async (full) => {
    const ports = story.world.ports(atOnce);
    const { entries, execution } = await readTrace(ports, story.id, { full });
    const all = everyEntry(entries);
    expect(all.map(({ scope }) => scope)).toEqual(expect.arrayContaining(["", "/f@2.b", "/m@4.1"]));
    for (const entry of all) {
      const { seq, scope } = entry;
      const found = await readTraceLink(ports, story.id, { seq, scope, full });
      expect(found.execution).toEqual(execution);
      expect(renderJson(found.entry)).toBe(renderJson(entry));
    }
  });

  it.each([
    ["itself", "", 1, false, ["#1"]],
    ["itself and the one before", "", 1, true, ["#1", "#0"]],
    ["itself, as the first", "", 0, true, ["#0"]],
    ["itself and the fork before it", "/f@2.b", 1, true, ["/f@2.b#1", "#2"]],
  ])("needs reads of %s", async (_, scope, seq, full, expected) => {
    await readTraceLink(watched(), story.id, { seq, scope, full });
    expect(reads).toEqual(expected);
  });

  it.each([
    ["a number that is not there", "", 99],
    ["the number 0 of a branch", "/f@2.b", 0],
    ["a branch that is not there", "/f@2.z", 1],
    ["a scope that is no branch", "f@2.b", 1],
    ["a scope outside every branch", "x/f@2.b", 1],
    ["a sort key", "#0000000001#1", 0],
    ["a key that DynamoDB takes not", `/f@2.${"ä".repeat(600)}`, 1],
  ])("is undefined for %s", async (_, scope, seq) => {
    const found = await readTraceLink(watched(), story.id, { seq, scope, full: true });
    expect(found.entry).toBeUndefined();
    expect(reads.length).toBeLessThan(2);
  });

  it("needs no read if its scope is not valid", async () => {
    await readTraceLink(watched(), story.id, { seq: 1, scope: `/f@2.${"ä".repeat(600)}`, full: true });
    expect(reads).toEqual([]);
  });
});
