import { expect, it } from "vitest";
import { duration } from "../../../packages/workflow/src/authored/fields.ts";

const schema = duration("how long");

it.each([
  [1, 1],
  ["90s", 90],
  ["15m", 900],
  ["12h", 43_200],
  ["365d", 31_536_000],
  [31_536_000, 31_536_000],
])("a duration written as %j is %j seconds", (written, seconds) => {
  expect(schema.parse(written)).toBe(seconds);
});

it.each([0, -1, 1.5, 31_536_001, "366d", "99999999d", "0s", "1.5h", "15 m", "15M", "15", "1h30m", "", null, true])(
  "refuses %j",
  (written) => {
    const { error } = schema.safeParse(written);
    expect(error?.issues.map(({ message }) => message)).toEqual([
      "must be whole seconds or a text such as 90s, 15m, 12h, 3d, at most a year",
    ]);
  },
);
