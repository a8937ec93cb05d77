import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { graphOf } from "../../../packages/workflow/src/graph/graph.ts";
import { action, decision, each, edge, end, graph, type Loose, parse, start } from "../definition.ts";
import { firstCommon, waysFrom } from "../graph/random-graph.ts";

const ids = ["a", "b", "c", "d", "x", "y"];

/** Returns a workflow with these edges. d is a decision; a, b, c, x and y are actions. */
function shape(...arrows: string[]): Loose {
  const named = ids.filter((id) => arrows.some((arrow) => arrow.split(/[ :]+/).includes(id)));
  const nodes = named.map((id) => (id === "d" ? decision(id) : action(id)));
  const more = arrows.some((arrow) => arrow.includes("end2")) ? [{ id: "end2", type: "end" }] : [];
  return graph([start, ...nodes, end, ...more], arrows);
}

function found(definition: Loose): string[] {
  return parse(definition).findings.map(({ code, message }) => `${code} ${/^[^"]*"[^"]*"/.exec(message)?.[0]}`);
}

describe("the branches of a fork", () => {
  it.each<[string, string[]]>([
    ["two", ["start > a", "start > b", "a > end", "b > end"]],
    ["nested in another branch", ["start > a", "start > b", "a > c", "a > x", "c > y", "x > y", "y > end", "b > end"]],
    [
      "nested in other branches, with a common join",
      ["start > a", "start > b", "a > c", "a > x", "c > end", "x > end", "b > end"],
    ],
    ["with a decision inside", ["start > d", "start > a", "d > b: true", "d > x: false", "b > x", "a > x", "x > end"]],
    ["after a decision", ["start > d", "d > a: true", "d > end: false", "a > b", "a > c", "b > end", "c > end"]],
  ])("are accepted if they are %s", (_, arrows) => {
    expect(found(shape(...arrows))).toEqual([]);
  });

  it.each<[string, string[], string[]]>([
    ["never meet", ["start > a", "start > b", "a > end", "b > end2"], ['NOVA220 the branches of "start"']],
    [
      "lead into one another",
      ["start > a", "start > b", "a > c", "b > d", "d > c: true", "d > end: false", "c > end"],
      ['NOVA221 "c"'],
    ],
    ["share a node", ["start > a", "start > b", "a > x", "b > x", "a > y", "x > end", "y > end"], ['NOVA221 "x"']],
    [
      "have an edge from outside into them",
      ["start > d", "d > c: true", "d > x: false", "c > a", "c > b", "x > a", "a > end", "b > end"],
      ['NOVA221 "a"'],
    ],
    ["are empty", ["start > a", "start > b", "start > end", "a > end", "b > end"], ['NOVA222 the edge from "start"']],
    [
      "contain an end node",
      ["start > a", "start > d", "d > x: true", "d > end2: false", "a > x", "x > end"],
      ['NOVA223 the branch "d"'],
    ],
  ])("are refused if they %s", (_, arrows, expected) => {
    expect(found(shape(...arrows))).toEqual(expected);
  });

  it("are refused if an onError leads out of a branch, or if the fork's own onError leads into a branch", () => {
    const leaving = graph(
      [start, action("a", { onError: "y" }), action("b"), action("x"), action("y"), end],
      ["start > a", "start > b", "a > x", "b > y", "x > end", "y > end"],
    );
    expect(found(leaving)).toEqual(['NOVA221 "y"']);
    const entering = graph(
      [start, action("f", { onError: "a" }), action("a"), action("b"), end],
      ["start > f", "f > a", "f > b", "a > end", "b > end"],
    );
    expect(found(entering)).toEqual(['NOVA221 "a"']);
  });

  it("get a finding that names an onError if this onError prevents them from meeting", () => {
    const nodes = [start, action("a", { onError: "end" }), action("b"), action("x"), end];
    const past = graph(nodes, ["start > a", "start > b", "a > x", "b > x", "x > end"]);
    const away = graph(
      [...nodes, { id: "end2", type: "end" }],
      ["start > a", "start > b", "a > x", "b > x", "x > end2"],
    );
    const wayOut = '- all paths except those of onError meet at "x": lead onError there too, or to a node before it';
    expect([past, away].flatMap((one) => parse(one).findings.map(({ code, message }) => [code, message]))).toEqual([
      ["NOVA221", `"x" is both in the branch "a" of "start" and in the branch "b" of "start" ${wayOut}`],
      ["NOVA223", `the branch "a" of "start" may reach the end "end", which the others do not reach ${wayOut}`],
    ]);
  });

  it("may end at different end nodes in the body of a map, but must not be empty there", () => {
    const done = ["done", "over"].map((id) => ({ id, type: "end" }));
    const body = (...arrows: string[]) =>
      graph(
        [start, each("m", [action("f"), action("a"), action("b"), ...done], arrows), end],
        ["start > m", "m > end"],
      );
    expect(found(body("f > a", "f > b", "a > done", "b > over"))).toEqual([]);
    expect(found(body("f > a", "f > over", "a > b", "b > done"))).toEqual(['NOVA222 the edge from "f"']);
  });

  it("cause a warning if there are more than 40 of them", () => {
    const many = (count: number) => Array.from({ length: count }, (_, index) => `n${index}`);
    const fan = (count: number) =>
      graph(
        [start, ...many(count).map((id) => action(id)), end],
        many(count).flatMap((id) => [`start > ${id}`, `${id} > end`]),
      );
    expect([found(fan(40)), found(fan(41))]).toEqual([[], ['NOVA224 "start"']]);
  });
});

/**
 * Random graphs without cycles, in which the first node reaches all others. A node without another edge leads to the
 * end.
 */
const anyShape = fc
  .record({
    before: fc.array(fc.nat(), { minLength: 2, maxLength: 7 }),
    more: fc.array(fc.tuple(fc.nat(), fc.nat()), { maxLength: 4 }),
    chooses: fc.array(fc.boolean(), { minLength: 8, maxLength: 8 }),
  })
  .map(({ before, more, chooses }) => {
    const size = before.length + 1;
    const tree = before.map((from, index) => [from % (index + 1), index + 1] as const);
    const extra = more.map(([from, by]) => [from % size, (from % size) + 1 + (by % size)] as const);
    const pairs = [...tree, ...extra.map(([from, to]) => [from, Math.min(to, size)] as const)];
    const ended = pairs.concat(
      Array.from({ length: size }, (_, from) => [from, size] as const).filter(
        ([from]) => !pairs.some((pair) => pair[0] === from),
      ),
    );
    const name = (index: number) => (index === size ? "end" : `n${index}`);
    const arrows = [...new Set(ended.map(([from, to]) => `${name(from)} > ${name(to)}`))].map((arrow) => {
      const [from = "", to = ""] = arrow.split(" > ");
      return { from, to };
    });
    const isChoice = (id: string) => chooses[Number(id.slice(1))] === true;
    const nodes = Array.from({ length: size }, (_, index) => (isChoice(name(index)) ? decision : action)(name(index)));
    const edges = arrows.map(({ from, to }) => ({ from, to, ...(isChoice(from) && { condition: to }) }));
    const definition = { id: "test", nodes: [start, ...nodes, end], edges: [edge("start > n0"), ...edges] };
    return { definition, arrows, isChoice };
  });

/** True if the branches are sound by their definition. It checks all paths, which is slow but obviously correct. */
function isSound(arrows: { from: string; to: string }[], isChoice: (id: string) => boolean): boolean {
  const names = [...new Set(arrows.flatMap(({ from, to }) => [from, to]))];
  const whole = graphOf(
    names.map((id) => ({ id })),
    arrows,
  );
  return names.every((fork) => {
    const targets = whole.successors.get(fork) ?? [];
    if (isChoice(fork) || targets.length < 2) return true;
    const join = firstCommon(targets.flatMap((target) => waysFrom(whole, target)));
    if (join === null || targets.includes(join)) return false;
    const branches = targets.map(
      (target) => new Set(waysFrom(whole, target).flatMap((way) => way.slice(0, way.indexOf(join)))),
    );
    return branches.every((branch, index) =>
      arrows.every(({ from, to }) => !branch.has(to) || branch.has(from) || (from === fork && to === targets[index])),
    );
  });
}

it("random branches are refused exactly if one is empty, shares a node, or has an entry outside its fork", () => {
  const verdicts = { sound: 0, wrong: 0 };
  fc.assert(
    fc.property(anyShape, ({ definition, arrows, isChoice }) => {
      const sound = isSound(arrows, isChoice);
      verdicts[sound ? "sound" : "wrong"]++;
      const errors = parse(definition).findings.filter(({ severity }) => severity === "error");
      expect(errors.map(({ code }) => code).filter((code) => !code.startsWith("NOVA22"))).toEqual([]);
      expect(errors.length === 0).toBe(sound);
    }),
    { numRuns: 1000 },
  );
  expect(Math.min(verdicts.sound, verdicts.wrong)).toBeGreaterThan(100);
});
