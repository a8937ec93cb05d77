import type { BlobRef, RunRequest, StoredEntry } from "@nova/engine";
import type { MapNode, Node } from "@nova/workflow";
import { describe, expect, it } from "vitest";
import { headOf } from "../../../../packages/engine/src/chain/entry.ts";
import { contextAfter, failureOf } from "../../../../packages/engine/src/chain/position.ts";
import { Context } from "../../../../packages/engine/src/context/context.ts";
import { referenceText } from "../../../../packages/engine/src/context/references.ts";
import { findItems } from "../../../../packages/engine/src/kinds/map/run-map.ts";
import { type Arrow, action, decision, flow, lines, mapOver } from "../../../support/engine/flows.ts";
import { atOnce } from "../../../support/engine/scheduler.ts";
import { fails, given, Story, succeeds } from "../../../support/engine/story.ts";

type Scripts = ConstructorParameters<typeof Story>[1];

/** Runs `start > m > end` to its end, with these nodes in the body of the map. */
async function mapped(
  options: Partial<MapNode>,
  scripts: Scripts,
  context: string,
  nodes: Node[] = [action("i")],
  arrows: Arrow[] = [],
) {
  const map = mapOver("m", nodes, arrows, { into: "results", ...options });
  const story = await new Story(flow("mapped", [map], lines("start > m > end")), scripts).start(context);
  await story.everything();
  await story.judge();
  expect(story.invariants.violations).toEqual([]);
  return story;
}

/** Reads the value of a key in the final context. */
async function left(story: Story, key: string): Promise<string | undefined> {
  const entry = story.entriesOf("").findLast((one) => one.contents.context);
  if (!entry) throw new TypeError("nothing is left");
  return (await contextAfter(entry, story.world.ports(atOnce).blobs)).context.slot(key)?.json;
}

const failure = (story: Story) => story.world.record(story.id).error?.message;
const echo = (request: RunRequest) => succeeds("n", given(request, "item") ?? "null");

it("a map runs its body once for each item, and collects the results in the order of the items", async () => {
  const seen: unknown[] = [];
  const script = (request: RunRequest) => {
    seen.push([given(request, "item"), given(request, "index"), given(request, "n")]);
    return echo(request);
  };
  const story = await mapped({}, { i: script }, '{"list":[12345678901234567890,1.50,"x"]}');
  expect(seen.toSorted()).toEqual(
    [
      ["1.50", "1", undefined],
      ["12345678901234567890", "0", undefined],
      ['"x"', "2", undefined],
    ].toSorted(),
  );
  expect(await left(story, "results")).toBe('[{"n":12345678901234567890},{"n":1.50},{"n":"x"}]');
  expect([await left(story, "item"), await left(story, "n")]).toEqual([undefined, undefined]);
});

it("a map gives the item to all nodes of its body, under the name that the map defines", async () => {
  const seen: (string | undefined)[] = [];
  const look = (request: RunRequest) => {
    seen.push(given(request, "page"), given(request, "index"), given(request, "i"));
    return succeeds("page", '"read"');
  };
  const nodes = [action("i"), action("k")];
  const story = await mapped({ as: "page" }, { k: look }, '{"list":["p"]}', nodes, lines("i > k"));
  expect(seen).toEqual(['"p"', "0", "true"]);
  expect(await left(story, "results")).toBe('[{"page":"read","i":true}]');
});

it("a map with an empty list runs its body for no item", async () => {
  const story = await mapped({}, {}, '{"list":[]}');
  expect(story.begun).toEqual([]);
  expect(await left(story, "results")).toBe("[]");
});

it("a map fails with an error message if the value at its path is not a list", async () => {
  const story = await mapped({}, {}, '{"list":7}');
  expect(failure(story)).toBe('context["list"] is a number, not a list - "items" takes the path of a list');
});

it("a map refuses a list from a secret input, because the items of the list would not be secret", async () => {
  const map = mapOver("m", [action("i")], [], { items: "keys.all" });
  const inputs = { properties: { keys: { secret: true } } };
  const story = await new Story(flow("secret", [map], lines("start > m > end"), { inputs })).start(
    '{"keys":{"all":["k"]}}',
  );
  await story.everything();
  expect(failure(story)).toContain('leads into the secret input "keys"');
});

it("a map moves large items and a large list of results to blobs", async () => {
  const item = JSON.stringify({ rows: Array.from({ length: 3000 }, (_, i) => `row ${i}`) });
  const story = await mapped({}, { i: echo }, `{"list":[${item},1]}`);
  const results = JSON.parse((await left(story, "results")) ?? "");
  expect(results[0].n).toHaveProperty("$blob.type", "json");
  const many = await mapped(
    {},
    { i: echo },
    `{"list":[${Array(50)
      .fill(`"${"text".repeat(50)}"`)
      .join(",")}]}`,
  );
  expect(await left(many, "results")).toMatch(/"type":"json"/);
});

it("a map has no decisions of the nodes in its body in its list of results", async () => {
  const nodes: Node[] = [decision("d"), action("k"), { id: "done", type: "end" }];
  const arrows: Arrow[] = [
    ["d", "k", "yes"],
    ["d", "done", "default"],
    ["k", "done"],
  ];
  const decide = (request: RunRequest) => succeeds("branch_decision", given(request, "item") ?? "");
  const story = await mapped({}, { d: decide }, '{"list":["yes","no"]}', nodes, arrows);
  expect(await left(story, "results")).toBe('[{"k":true},{}]');
});

describe("failed items of a map", () => {
  const odd = (request: RunRequest) =>
    Number(given(request, "item")) % 2 === 1 ? fails("it is odd") : succeeds("n", given(request, "item") ?? "");

  it("fail the map with the error of the first failed item", async () => {
    const story = await mapped({ maxConcurrency: 1 }, { i: odd }, '{"list":[2,3,5]}');
    expect(failure(story)).toBe("in item 1: it is odd");
    expect(story.chainOf("/m@1.2")).toEqual([]);
  });

  it.each<[string, MapNode["toleratedFailures"] & object, string]>([
    ["a number of items", { count: 2 }, "[1,2,3,4]"],
    ["a share of the items", { percent: 50 }, "[1,2,3,4]"],
  ])(
    "are tolerated if they are at most %s, and their errors are in the list of results",
    async (_what, toleratedFailures, list) => {
      const story = await mapped({ toleratedFailures }, { i: odd }, `{"list":${list}}`);
      const error = { node: "i", class: "NodeFailed", message: "it is odd" };
      expect(JSON.parse((await left(story, "results")) ?? "")).toEqual([{ error }, { n: 2 }, { error }, { n: 4 }]);
    },
  );

  it.each<[string, MapNode["toleratedFailures"] & object, string]>([
    ["a number of items", { count: 1 }, "(2 of 4 items failed, 1 may)"],
    ["a share of the items", { percent: 49 }, "(2 of 4 items failed, 1 may)"],
  ])(
    "fail the map if they are more than %s, but only after all items have run",
    async (_what, toleratedFailures, sentence) => {
      const story = await mapped({ toleratedFailures }, { i: odd }, '{"list":[1,2,3,4]}');
      expect(failure(story)).toBe(`in item 0: it is odd ${sentence}`);
      expect(story.begun).toHaveLength(4);
    },
  );

  it("make the run continue at the map's onError node, which finds the failure in its context", async () => {
    const seen: (string | undefined)[] = [];
    const nodes = [mapOver("m", [action("i")], [], { onError: "r" }), action("r")];
    const look = (request: RunRequest) => {
      seen.push(given(request, "error"));
      return succeeds("r", "1");
    };
    const story = new Story(flow("rescued", nodes, lines("start > m > end", "r > end")), { i: odd, r: look });
    await story.start('{"list":[1]}');
    await story.everything();
    expect(JSON.parse(seen[0] ?? "")).toEqual({
      node: "i",
      class: "NodeFailed",
      message: 'node "i" in item 0: it is odd',
    });
    expect(story.chain.at(-1)).toBe("(close) completed");
  });
});

it("nested maps and forks keep the results of each map separate", async () => {
  const inner = mapOver("n", [action("k")], [], { items: "item", as: "inner", into: "rows" });
  const nodes: Node[] = [inner, action("a"), action("b"), { id: "done", type: "end" }];
  const arrows = lines("n > a > done", "n > b > done");
  const double = (request: RunRequest) => succeeds("k", String(2 * Number(given(request, "inner"))));
  const story = await mapped({}, { k: double }, '{"list":[[1,2],[]]}', nodes, arrows);
  expect(await left(story, "results")).toBe(
    '[{"rows":[{"k":2},{"k":4}],"a":true,"b":true},{"rows":[],"a":true,"b":true}]',
  );
});

const blobs = new Map<string, string>();

/** Returns a reference to a JSON blob with this text. */
function blob(text: string, type: BlobRef["type"] = "json"): string {
  const sha256 = String(blobs.size).padStart(64, "0");
  blobs.set(sha256, text);
  return referenceText({ sha256, bytes: text.length, type });
}

const load = async (sha256: string) => blobs.get(sha256) ?? "";
const found = (path: string, slots: Record<string, string>) =>
  findItems(new Context(Object.entries(slots).map(([key, json]) => ({ key, json, by: 0 }))), path, load);

it.each<[string, string, Record<string, string>, string[]]>([
  [
    "with all digits of its numbers",
    "list",
    { list: '[ 1.50, "a,]" ,{"b": [2]},12345678901234567890 ]' },
    ["1.50", '"a,]"', '{"b": [2]}', "12345678901234567890"],
  ],
  ["that is empty", "list", { list: "[ ]" }, []],
  ["at a path", "mail.parts", { mail: '{"parts":[1,850.0]}' }, ["1", "850.0"]],
  ["inside an item of another list", "mails.1.parts", { mails: '[0,{"parts":[7]}]' }, ["7"]],
  ["under a key with dots", "mail.parts", { "mail.parts": "[1]", mail: '{"parts":[2]}' }, ["1"]],
  ["in a blob", "list", { list: blob("[1,[2]]") }, ["1", "[2]"]],
  ["at a path into a blob", "mail.parts", { mail: blob('{"parts":[3]}') }, ["3"]],
  ["in a blob inside a blob", "mail.parts", { mail: blob(`{"parts":${blob("[4]")}}`) }, ["4"]],
])("findItems finds the list of a map %s", async (_what, path, slots, items) => {
  expect(await found(path, slots)).toEqual(items);
});

it.each<[string, Record<string, string>, string]>([
  ["mail", {}, 'there is no context["mail"]'],
  ["mail.parts", { mail: '{"part":[]}' }, 'there is no context["mail.parts"]'],
  ["mail.length", { mail: "[1]" }, 'there is no context["mail.length"]'],
  ["mail", { mail: '"[1]"' }, 'context["mail"] is a text, not a list'],
  ["mail", { mail: blob("[1]", "text") }, 'context["mail"] is a text, not a list'],
  ["mail", { mail: blob("[1]", "bytes") }, 'context["mail"] is bytes, not a list'],
  ["mail", { mail: '{"0":1}' }, 'context["mail"] is an object, not a list'],
  ["mail.n", { mail: '{"n":3}' }, 'context["mail.n"] is a number, not a list'],
  ["mail", { mail: "null" }, 'context["mail"] is null, not a list'],
])(
  "findItems throws an error that says why the path %j leads to no list in the context %j",
  async (path, slots, sentence) => {
    expect(await found(path, slots)).toEqual({ problem: expect.stringContaining(sentence) });
  },
);

const inner = mapOver("n", [action("i")], [], { items: "item" });
const nested = flow("nested", [mapOver("m", [inner], [])], lines("start > m > end"));

it.each([
  [3, "success", undefined],
  [2, "failed", "item has 3 items, this map takes 2 - split the list, or map over parts of it"],
])(
  "a map inside a map with a limit of %i items in total gets an entry with the status `%s` for a list of three items",
  async (most_items, status, message) => {
    const story = await new Story(nested).start('{"list": [[1, 2, 3]]}');
    await story.finish(story.deliver("m", 0));
    const execution = { id: story.id, workflowId: "nested", version: 1 };
    const input = { execution, scope: "/m@1.0", seq: 0, node: "n", most_items };
    await story.finish(story.world.deliver({ function: "nova-run-node", input }));
    const entry = story.entriesOf("/m@1.0").at(-1) as StoredEntry;
    expect(headOf(entry)).toMatchObject({ node_id: "n", status });
    if (message) expect((await failureOf(entry, story.world.ports(atOnce).blobs)).message).toBe(message);
  },
);
