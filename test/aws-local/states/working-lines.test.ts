import { describe, expect, it } from "vitest";
import { Capacity } from "../../../packages/aws-local/src/states/capacity.ts";
import { WorkingLines } from "../../../packages/aws-local/src/states/working-lines.ts";

/**
 * Simulates a busy machine on which only two lines may work at the same time. A line is a sequence of states, such as
 * an iteration of a Map. `call` lets a line call a function, and `answer` ends this call.
 */
function calling() {
  const lines = new WorkingLines<string>(new Capacity<object>(2, () => ({ idleMs: 0, allMs: Date.now() })));
  const begun: string[] = [];
  const waits: [line: string, isOnlyLine: boolean, isOver: boolean][] = [];
  const answers = new Map<string, () => void>();
  const names = new Map<string, object>();
  const call = (execution: string, name: string) => {
    const line = names.get(name) ?? { name };
    names.set(name, line);
    const onWait = (isOnlyLine: boolean) => {
      const wait: (typeof waits)[number] = [name, isOnlyLine, false];
      waits.push(wait);
      return () => {
        wait[2] = true;
      };
    };
    return lines.run({ execution, line, place: { owner: "", work: execution, since: 0 }, onWait }, async () => {
      begun.push(name);
      await new Promise<void>((resolve) => answers.set(name, resolve));
      return { ok: true, payload: "{}" };
    });
  };
  return { lines, begun, waits, call, answer: (name: string) => answers.get(name)?.() };
}

const turn = () => new Promise(setImmediate);

describe("on a busy machine,", () => {
  it("iterations of a Map wait for other iterations, and the time limits of waiting iterations are paused", async () => {
    const { lines, begun, waits, call, answer } = calling();
    const first = call("map", "0");
    for (const name of ["1", "2", "3"]) call("map", name);
    expect(begun).toEqual(["0", "1"]);
    expect(waits).toEqual([
      ["2", false, false],
      ["3", false, false],
    ]);
    answer("0");
    await first;
    lines.rest("map");
    await turn();
    expect(begun).toEqual(["0", "1", "2"]);
    expect(waits[0]).toEqual(["2", false, true]);
  });

  it("no waiting iteration starts while another iteration is between two calls of Lambda functions", async () => {
    const { lines, begun, call, answer } = calling();
    const first = call("map", "0");
    for (const name of ["1", "2"]) call("map", name);
    answer("0");
    await first;
    call("map", "0");
    lines.rest("map");
    await turn();
    expect(begun).toEqual(["0", "1", "0"]);
  });

  it("an execution without branches starts before the waiting iterations of a Map", async () => {
    const { lines, begun, waits, call, answer } = calling();
    const first = call("map", "0");
    for (const name of ["1", "2", "3"]) call("map", name);
    call("single", "a");
    expect(waits.at(-1)).toEqual(["a", true, false]);
    answer("0");
    await first;
    lines.rest("map");
    await turn();
    expect(begun).toEqual(["0", "1", "a"]);
  });

  it("another execution starts to work when an execution with branches ends", async () => {
    const { lines, begun, call } = calling();
    for (const name of ["0", "1"]) call("map", name);
    call("other", "a");
    lines.leave("map");
    await turn();
    expect(begun).toEqual(["0", "1", "a"]);
  });
});
