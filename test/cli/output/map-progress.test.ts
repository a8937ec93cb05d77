import { stripVTControlCharacters } from "node:util";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { MapProgress } from "../../../packages/cli/src/run/lines.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function progress() {
  const lines: string[] = [];
  const maps = new MapProgress((_, line) => lines.push(stripVTControlCharacters(line).trim()));
  const event = (item: number, state: "started" | "succeeded" | "failed" | "waiting") =>
    maps.absorb("exec_1", { node: "i", items: [item], map: "m", state });
  return { lines, maps, event };
}

it("MapProgress reports from time to time how many items are done, instead of a line for each node", () => {
  const { lines, maps, event } = progress();
  expect(maps.absorb("exec_1", { node: "m", state: "succeeded", count: 200 })).toBe(false);
  for (let i = 0; i < 37; i++) expect([event(i, "started"), event(i, "succeeded")]).toEqual([true, true]);
  event(37, "started");
  expect(lines).toEqual([]);
  vi.advanceTimersByTime(1_000);
  expect(lines).toEqual(["» m 37/200"]);
  vi.advanceTimersByTime(5_000);
  for (let i = 37; i < 200; i++) event(i, "succeeded");
  expect(maps.absorb("exec_1", { node: "end", state: "started" })).toBe(false);
  expect(lines).toEqual(["» m 37/200", "» m 200/200"]);
});

it("MapProgress still lets nova run print a line for each of the first failed items and each waiting item", () => {
  const { lines, maps, event } = progress();
  maps.absorb("exec_1", { node: "m", state: "succeeded", count: 200 });
  expect(event(0, "waiting")).toBe(false);
  expect(Array.from({ length: 7 }, (_, i) => event(i + 1, "failed"))).toEqual([...Array(5).fill(false), true, true]);
  maps.end("exec_1");
  expect(lines).toEqual(["» m 7/200, 7 failed"]);
  expect(event(9, "started")).toBe(false);
});

it("MapProgress still lets nova run print a line for each node in a map with few items", () => {
  const { maps, event } = progress();
  maps.absorb("exec_1", { node: "m", state: "succeeded", count: 5 });
  expect(event(0, "started")).toBe(false);
});
