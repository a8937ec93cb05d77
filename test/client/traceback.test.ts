import { expect, test } from "vitest";
import { findFailedLine } from "../../packages/client/src/traceback.ts";

const place = (file: string, line: number) => `  File "${file}", line ${line}, in work\n    total = 1 / 0\n`;
const traceback = (...places: string[]) =>
  `Traceback (most recent call last):\n${places.join("")}ZeroDivisionError: division by zero\n`;

test.each([
  ["the last line of the node's code", [place("nodes/total.py", 2), place("nodes/total.py", 7)], 7],
  ["the node's line that called the package `lib`", [place("nodes/total.py", 3), place("/home/lib/rates.py", 40)], 3],
  ["the node's line that ran generated code", [place("nodes/total.py", 4), place("<string>", 1)], 4],
  ["no line if only a package has failed", [place("/usr/lib/python3/json/decoder.py", 9)], null],
])("the failed line of a traceback is %s", (_, places, line) => {
  expect(findFailedLine(traceback(...places))).toBe(line);
});

test("a node without a traceback has no failed line", () => {
  expect(findFailedLine(null)).toBeNull();
  expect(findFailedLine("NodeFailed: the model answered nothing")).toBeNull();
});
