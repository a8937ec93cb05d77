import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  addNodeAt,
  addTool,
  addTrigger,
  applyChange,
  changeInside,
  changeNode,
  changeSettings,
  changeTrigger,
  connect,
  type Doc,
  diffDraft,
  type KeyedTrigger,
  keyTriggers,
  listExportFiles,
  listTriggers,
  moveNode,
  parseWorkflowText,
  removeEdge,
  removeNode,
  renderParts,
  renderWorkflow,
} from "../../../../packages/console/src/pages/session/draft-doc.ts";
import { parseDefinition } from "../../../../packages/console/src/pages/workflow/definition.ts";

const node = (id: string, more: object = {}) => ({ id, text: JSON.stringify({ id, type: "action", ...more }) });
const doc = (ids: readonly string[], edges: Doc["edges"]): Doc => ({
  nodes: ids.map((id) => node(id)),
  edges,
  layout: {},
  settings: {},
});

describe("a node that a user adds", () => {
  it("replaces an edge by two edges, and keeps the order of the branches", () => {
    const before = doc(
      ["a", "b", "c"],
      [
        { from: "a", to: "b" },
        { from: "a", to: "c" },
      ],
    );
    const { edges } = addNodeAt(before, node("x"), { edge: { from: "a", to: "b" } });
    expect(edges).toEqual([
      { from: "a", to: "x" },
      { from: "x", to: "b" },
      { from: "a", to: "c" },
    ]);
  });

  it("is inserted before the end if the user adds it after the last node, and starts a new branch after any other node", () => {
    const line = addNodeAt(doc(["a"], [{ from: "a", to: "end" }]), node("x"), { after: "a" });
    expect(line.edges).toEqual([
      { from: "a", to: "x" },
      { from: "x", to: "end" },
    ]);
    expect(addNodeAt(doc(["a", "b"], [{ from: "a", to: "b" }]), node("x"), { after: "a" }).edges.at(-1)).toEqual({
      from: "a",
      to: "x",
    });
  });

  it("gets one edge for each choice if it is an approval", () => {
    const edge = { from: "a", to: "b" };
    const approval = addNodeAt(doc(["a", "b"], [edge]), node("x", { type: "approval" }), { edge });
    expect(approval.edges.map(({ condition }) => condition)).toEqual([undefined, "approved", "rejected"]);
  });
});

describe("an edge that a user draws", () => {
  it("from a decision has the next free condition", () => {
    const before: Doc = {
      nodes: [node("d", { type: "decision" }), node("a"), node("b")],
      edges: [],
      layout: {},
      settings: {},
    };
    const drawn = connect(connect(connect(before, "d", "a"), "d", "b"), "d", "a");
    expect(drawn.edges.map(({ condition }) => condition)).toEqual([true, false, "default"]);
  });
});

describe("the deletion of a node", () => {
  it("connects the neighbours of the node, and keeps the order of branches", () => {
    const edges = [
      { from: "d", to: "x", condition: true },
      { from: "d", to: "b", condition: false },
      { from: "x", to: "a" },
    ];
    expect(removeNode(doc(["d", "x", "a", "b"], edges), "x").edges).toEqual([
      { from: "d", to: "a", condition: true },
      { from: "d", to: "b", condition: false },
    ]);
  });

  it("deletes its fallback and the tools that no other agent lists, so that none of them runs as a step", () => {
    const agent = (id: string, ...tools: string[]) => node(id, { executor: "agent", tools });
    const code = node("code", { fallback: "g" });
    const tools = ["own", "shared"].map((id) => node(id));
    const before: Doc = {
      nodes: [code, agent("g", "own", "shared"), agent("other", "shared"), ...tools],
      edges: [
        { from: "code", to: "other" },
        { from: "other", to: "end" },
      ],
      layout: {},
      settings: {},
    };
    const idsWithout = (id: string, one = before) => removeNode(one, id).nodes.map((left) => left.id);
    expect(idsWithout("code")).toEqual(["other", "shared"]);
    expect(idsWithout("g")).toEqual(["code", "other", "shared"]);
    expect(idsWithout("other")).toEqual(["code", "g", "own", "shared"]);
    const twice = { ...before, nodes: [...before.nodes, node("copy", { fallback: "g" })] };
    expect(idsWithout("code", twice)).toEqual(["g", "other", "own", "shared", "copy"]);
    expect(removeNode(before, "other").edges).toEqual([{ from: "code", to: "end" }]);
  });

  it("keeps the workflows that an agent calls as tools", () => {
    const agent = node("g", { executor: "agent", tools: [{ workflow: "b" }, "find"] });
    const before: Doc = { nodes: [agent, node("find")], edges: [], layout: {}, settings: {} };
    const added = addTool(before, "g", node("more"));
    const toolsOf = ({ nodes }: Doc) => JSON.parse(nodes[0]?.text ?? "{}").tools;
    expect(toolsOf(added)).toEqual([{ workflow: "b" }, "find", "more"]);
    expect(toolsOf(removeNode(added, "find"))).toEqual([{ workflow: "b" }, "more"]);
  });

  it("does not connect a node to itself", () => {
    const edges = [
      { from: "check", to: "fix", condition: "bad" },
      { from: "check", to: "end", condition: "default" },
      { from: "fix", to: "check", max: 3 },
    ];
    expect(removeNode(doc(["check", "fix"], edges), "fix").edges).toEqual([edges[1]]);
  });

  it.each([
    ["to", { max: 3 }, {}],
    ["from", {}, { max: 3 }],
  ])("keeps the limit of a loop if the edge that leads %s the node has this limit", (_, into, out) => {
    const edges = [
      { from: "a", to: "check" },
      { from: "check", to: "fix", condition: "bad", ...into },
      { from: "fix", to: "a", ...out },
    ];
    expect(removeNode(doc(["a", "check", "fix"], edges), "fix").edges).toEqual([
      { from: "a", to: "check" },
      { from: "check", to: "a", condition: "bad", max: 3 },
    ]);
  });
});

describe("a change of the triggers and settings of a draft", () => {
  const mails = ["a", "b"].map((address) => ({ type: "mail", address }));
  const before = mails.reduce(addTrigger, doc([], []));

  it("changes the trigger that the user saw, even if another user has removed an earlier trigger", () => {
    const [first, second] = mails as [object, object];
    const shorter = changeTrigger(before, { ...first }, 0);
    expect(listTriggers(changeTrigger(shorter, { ...second }, 1, [["client", '"acme"']]).settings)).toEqual([
      { type: "mail", address: "b", client: "acme" },
    ]);
  });

  it("changes nothing if another user has removed or changed the trigger that the user saw", () => {
    const [first, second] = mails as [object, object];
    const shorter = changeTrigger(before, first as never, 0);
    expect(changeTrigger(shorter, { ...first }, 0)).toBe(shorter);
    const stale = { ...second, address: "old" };
    expect(changeTrigger(before, stale, 1, [["address", '"new"']])).toBe(before);
  });

  it("can change the second of two equal triggers", () => {
    const twins = addTrigger(addTrigger(doc([], []), { type: "mail" }), { type: "mail" });
    const { settings } = changeTrigger(twins, { type: "mail" }, 1, [["address", '"new"']]);
    expect(settings.triggers).toEqual([{ type: "mail" }, { type: "mail", address: "new" }]);
  });

  it("is refused if a whole number would lose digits, even if the trigger already contained this number", () => {
    const number = "12345678901234567890";
    const schedule = { type: "schedule", every: "1d" };
    const one = addTrigger(doc([], []), schedule);
    const sentence = /^The number 12345678901234567000 has lost digits: write it as a text/;
    expect(() => changeTrigger(one, schedule, 0, [["context", `{"n":${number},"p":850.0}`]])).toThrow(sentence);
    const held = { ...schedule, context: { n: Number(number) } };
    expect(() => changeTrigger(addTrigger(doc([], []), held), held, 0, [["every", '"2d"']])).toThrow(sentence);
    expect(() => changeSettings(one, [["labels", `{"n":[${number}]}`]])).toThrow(sentence);
  });

  it("keeps the keys of the forms of triggers if a user adds, removes, moves or changes a trigger", () => {
    const [a, b, c] = ["a", "b", "c"].map((address) => ({ type: "mail", address })) as [object, object, object];
    const steps = [[a, b], [b], [b, c], [c, b], [{ ...c, client: "acme" }, b, a], [b, b], [b, { type: "event" }]];
    let keyed: readonly KeyedTrigger[] = [];
    const keys = steps.map((step) => {
      keyed = keyTriggers(step as never, keyed);
      return keyed.map(({ key }) => key);
    });
    expect(keys).toEqual([[1, 2], [2], [2, 3], [3, 2], [3, 2, 4], [5, 2], [5, 6]]);
  });

  it("sends empty fields for removed triggers and receivers, because the workflow keeps the values of absent fields", () => {
    const { settings } = changeSettings(doc([], []), [
      ["triggers", null],
      ["on_failure", null],
      ["timeout", null],
    ]);
    expect(settings).toEqual({ triggers: [], on_failure: {} });
  });
});

const ids = ["a", "b", "c", "d"];
const change = fc.oneof(
  fc.constantFrom(...ids).map((id) => (one: Doc) => removeNode(one, id)),
  fc.tuple(fc.constantFrom(...ids), fc.nat(50)).map(
    ([id, x]) =>
      (one: Doc) =>
        moveNode(one, id, { x, y: x }),
  ),
  fc.tuple(fc.constantFrom(...ids), fc.constantFrom(...ids)).map(
    ([from, to]) =>
      (one: Doc) =>
        connect(one, from, to),
  ),
  fc.nat(5).map((at) => (one: Doc) => (one.edges[at] ? removeEdge(one, one.edges[at]) : one)),
  fc.tuple(fc.constantFrom(...ids), fc.nat(9)).map(
    ([id, seconds]) =>
      (one: Doc) =>
        changeNode(one, id, [["seconds", seconds === 0 ? null : String(seconds)]]),
  ),
  fc.nat(3).map((at) => (one: Doc) => addTrigger(one, { type: "mail", address: `mail-${at}` })),
  fc.tuple(fc.nat(3), fc.boolean()).map(([at, isRemoved]) => (one: Doc) => {
    const trigger = listTriggers(one.settings)[at];
    return trigger ? changeTrigger(one, trigger, at, isRemoved ? undefined : [["client", '"acme"']]) : one;
  }),
  fc
    .constantFrom("timeout", "on_failure")
    .chain((key) => fc.constantFrom("1", null).map((json) => (one: Doc) => changeSettings(one, [[key, json]]))),
  fc.constantFrom("x", "y").map((id) => (one: Doc) => {
    if (one.nodes.some((known) => known.id === id)) return one;
    return addNodeAt(one, node(id), one.edges[0] && { edge: one.edges[0] });
  }),
);

describe("an undo", () => {
  it("restores the edges, positions and nodes after any change of the drawing", () => {
    fc.assert(
      fc.property(fc.array(change, { maxLength: 4 }), change, (earlier, last) => {
        const start = doc(
          ids,
          ids.slice(1).map((to, at) => ({ from: ids[at] as string, to })),
        );
        const before = earlier.reduce((one, apply) => apply(one), start);
        const after = last(before);
        const undone = applyChange(after, after, before);
        const { nodes: _, ...rest } = before;
        expect(undone).toMatchObject(rest);
        expect(undone.settings).toEqual(before.settings);
        const definitions = ({ nodes }: Doc) =>
          nodes.map(({ text }) => JSON.parse(text)).sort((a, b) => (a.id < b.id ? -1 : 1));
        expect(definitions(undone)).toEqual(definitions(before));
        expect(applyChange(undone, before, after).edges).toEqual(after.edges);
      }),
    );
  });

  it("keeps what another user changed meanwhile", () => {
    const before = doc(["a", "b"], [{ from: "a", to: "b" }]);
    const after = moveNode(before, "a", { x: 1, y: 2 });
    const theirs: Doc = {
      ...addNodeAt(after, node("t"), { after: "b" }),
      nodes: [node("a", { code: "new" }), node("b"), node("t")],
    };
    const undone = applyChange(theirs, after, before);
    expect(undone).toEqual({ ...theirs, layout: {} });
  });

  it("keeps the fields of a node and the triggers that another user changed meanwhile", () => {
    const before = addTrigger(doc(["a"], []), { type: "mail", address: "bills" });
    const mine = addTrigger(changeNode(before, "a", [["onError", '"b"']]), { type: "webhook", id: "shop" });
    const theirs = addTrigger(changeNode(mine, "a", [["code", '"new"']]), { type: "schedule", every: "1d" });
    const { nodes, settings } = applyChange(theirs, mine, before);
    expect(nodes.map(({ text }) => JSON.parse(text))).toEqual([{ id: "a", type: "action", code: "new" }]);
    expect(settings.triggers).toEqual([
      { type: "mail", address: "bills" },
      { type: "schedule", every: "1d" },
    ]);
  });
});

describe("a change of the nodes of a map", () => {
  const map = (id: string, ...nodes: Doc["nodes"]) =>
    node(id, { type: "map", items: "list", nodes: nodes.map(({ text }) => JSON.parse(text)), edges: [] });
  const before = doc(["a"], [{ from: "a", to: "each" }]);
  const whole: Doc = { ...before, nodes: [...before.nodes, map("each", node("x"), map("inner", node("y")))] };
  const read = ({ nodes }: Doc) => JSON.parse(nodes.at(-1)?.text ?? "");

  it("changes the body of the map, and leaves all other nodes unchanged", () => {
    const add = (one: Doc) => addNodeAt(one, node("z"), { after: "y" });
    const after = changeInside(whole, "inner", (one) => moveNode(add(one), "z", { x: 1, y: 2 }));
    expect(read(after).nodes[1]).toMatchObject({ nodes: [{ id: "y" }, { id: "z" }], edges: [{ from: "y", to: "z" }] });
    expect([after.nodes[0], after.edges, read(after).nodes[0]]).toEqual([
      whole.nodes[0],
      whole.edges,
      read(whole).nodes[0],
    ]);
    expect(renderParts(after).layout).toEqual({ z: { x: 1, y: 2 } });
  });

  it("can be undone, and the undo keeps other changes that were made meanwhile", () => {
    let [from, to] = [whole, whole];
    const mine = changeInside(whole, "each", (one) => {
      from = one;
      to = changeNode(one, "x", [["onError", '"inner"']]);
      return to;
    });
    const theirs = changeInside(mine, "inner", (one) => changeNode(one, "y", [["code", '"new"']]));
    const undone = changeInside(theirs, "each", (one) => applyChange(one, to, from));
    expect(read(undone).nodes).toMatchObject([{ id: "x" }, { id: "inner", nodes: [{ id: "y", code: "new" }] }]);
    expect(read(undone).nodes[0]).not.toHaveProperty("onError");
  });

  it("does nothing after the map was deleted", () => {
    const gone = removeNode(whole, "each");
    expect(changeInside(gone, "inner", (one) => removeNode(one, "y"))).toBe(gone);
  });

  it("inserts a node between the last node and the end node", () => {
    const ended = doc(["a"], [{ from: "a", to: "stop" }]);
    const body: Doc = { ...ended, nodes: [...ended.nodes, node("stop", { type: "end" })] };
    expect(addNodeAt(body, node("x"), { after: "a" }).edges).toEqual([
      { from: "a", to: "x" },
      { from: "x", to: "stop" },
    ]);
  });
});

describe("the JSON of a draft", () => {
  it("keeps all digits, and is parsed to the same nodes and edges", () => {
    const nodes = [{ id: "a", text: '{"id":"a","type":"wait","seconds":850.0}' }];
    const edges = [{ from: "start", to: "a" }];
    const text = renderWorkflow({ nodes, edges }, "Mine", { labels: { n: "{n}" } });
    expect(text).toContain('"seconds": 850.0');
    expect(parseWorkflowText(text)).toMatchObject({ name: "Mine", settings: { labels: { n: "{n}" } }, edges });
  });

  it.each([["{"], ["[]"], ['{"nodes": []}'], ['"x"']])("is refused if it is no workflow: %s", (text) => {
    expect(typeof parseWorkflowText(text)).toBe("string");
  });
});

describe("the export of a draft", () => {
  const exported = {
    nodes: [node("read", { code: "pass" }), node("say", { executor: "text", prompt: "Say {read}.\n" })],
    edges: [{ from: "read", to: "say" }],
    name: "Mine",
    settings: {},
    files: { "lib/money.py": "x = 1\n" },
    context: '{"n":850.0}',
  };

  it("has the files that nova init writes", () => {
    const files = new Map(listExportFiles(exported).map(({ path, text }) => [path, text]));
    expect([...files.keys()]).toEqual([
      "workflow.json",
      "input.json",
      "nodes/read.py",
      "prompts/say.md",
      "lib/money.py",
    ]);
    expect(JSON.parse(files.get("workflow.json") ?? "").nodes).toEqual([
      { id: "read", type: "action", codeFile: "nodes/read.py" },
      { id: "say", type: "action", executor: "text", promptFile: "prompts/say.md" },
    ]);
    expect([files.get("nodes/read.py"), files.get("input.json")]).toEqual(["pass\n", '{\n  "n": 850.0\n}\n']);
  });
});

describe("the difference of a draft to the active version", () => {
  const stop = { id: "stop", type: "end" };
  const read = node("read", { code: "a\n" });
  const map = node("each", { type: "map", nodes: [stop], edges: [] });
  const { nodes: active } = parseDefinition(
    JSON.stringify({
      nodes: [
        { id: "start", type: "start" },
        { id: "read", type: "action", executor: { kind: "code", code: "a\n" } },
        { id: "each", type: "map", body: { nodes: [stop], edges: [] } },
        { id: "end", type: "end" },
      ],
    }),
  );

  it("is empty if the nodes are the same, also with an end inside a map", () => {
    expect(diffDraft(active, [read, map])).toEqual({ changed: [], added: [], removed: [] });
  });

  it("has the new, changed and removed nodes, but no start and no end of the active version", () => {
    const draft = [node("read", { code: "b\n" }), node("more")];
    const changed = [{ id: "read", before: "a\n", after: "b\n" }];
    expect(diffDraft(active, draft)).toEqual({ changed, added: ["more"], removed: ["each"] });
  });
});
