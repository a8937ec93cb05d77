import { expect, it } from "vitest";
import { buildScale } from "../../../../packages/console/src/pages/run/timeline-lines.ts";

const hour = 3_600_000;

it("the timeline draws time in proportion if nothing waited long", () => {
  const { at, gaps } = buildScale({ from: 0, to: 1000 }, [
    { from: 0, to: 400 },
    { from: 600, to: 1000 },
  ]);
  expect([at(0), at(400), at(1000), gaps]).toEqual([0, 0.4, 1, []]);
});

it("the timeline shortens an hour of waiting, and draws busy periods in proportion", () => {
  const busy = [
    { from: 0, to: 100 },
    { from: hour, to: hour + 100 },
  ];
  const { at, gaps } = buildScale({ from: 0, to: hour + 100 }, busy);
  expect(gaps).toHaveLength(1);
  expect(gaps[0]?.width).toBeCloseTo(0.3 / 1.3);
  expect(at(100)).toBeCloseTo(1 - at(hour));
  expect(at(hour + 100)).toBe(1);
});

it.each([
  ["nothing ran", []],
  ["nothing ran after the start", [{ from: 0, to: 1 }]],
])("the timeline fills its width if %s", (_, busy) => {
  const { at } = buildScale({ from: 0, to: hour }, busy);
  expect([at(0), at(hour)]).toEqual([0, 1]);
  expect(at(hour) - at(hour / 2)).toBeGreaterThan(0.1);
});

it("the timeline shortens each of many long waits to a visible minimum, and lengthens no short wait", () => {
  const busy = Array.from({ length: 20 }, (_, index) => ({ from: index * hour, to: index * hour + 1000 }));
  const { gaps } = buildScale({ from: 0, to: 19 * hour + 1000 }, busy);
  expect(gaps).toHaveLength(19);
  for (const { width } of gaps) expect(width).toBeCloseTo(0.06 / (1 + 19 * 0.06));
  const short = buildScale({ from: 0, to: 11_600 }, [{ from: 0, to: 10_000 }]);
  expect(short.at(10_000)).toBeCloseTo(10_000 / 11_600);
});

it("the timeline puts everything at its start if no time has passed", () => {
  expect(buildScale({ from: 5, to: 5 }, []).at(5)).toBe(0);
});
