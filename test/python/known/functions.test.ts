import { describe, expect, it } from "vitest";
import { leavesArguments, resultDependence } from "../../../packages/python/src/known/functions.ts";

describe("the result of a function", () => {
  it.each([
    ["builtins.len", "nothing"],
    ["builtins.ValueError", "nothing"],
    ["copy.deepcopy", "nothing"],
    ["json.dumps", "nothing"],
    ["pandas.DataFrame", "nothing"],
    ["builtins.sorted", "parts in something new"],
    ["collections.Counter", "parts in something new"],
    ["copy.copy", "parts in something new"],
    ["builtins.max", "a part"],
    ["functools.reduce", "a part"],
    ["builtins.exec", "unknown"],
    ["somebody.elses", "unknown"],
    [undefined, "unknown"],
  ])("%s has from its arguments: %s", (path, how) => {
    expect(resultDependence(path)).toBe(how);
  });
});

it.each([
  ["builtins.print", true],
  ["json.dumps", true],
  ["psycopg.connect", true],
  ["builtins.setattr", false],
  ["builtins.dict.update", false],
  ["operator.setitem", false],
  ["heapq.heappush", false],
  ["bisect.insort", false],
  ["random.shuffle", false],
  ["collections.ChainMap", false],
  ["types.MappingProxyType", false],
  ["ctypes.memmove", false],
  ["somebody.elses", false],
  [undefined, false],
])("%s leaves its arguments unchanged: %s", (path, isHarmless) => {
  expect(leavesArguments(path)).toBe(isHarmless);
});
