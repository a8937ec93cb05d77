import { expect, it } from "vitest";
import { listCritical } from "../../../../packages/console/src/pages/run/run-model.ts";
import {
  buildScale,
  formatPeriod,
  listMarks,
  listTicks,
  parsePeriod,
  scalePeriod,
  shiftPeriod,
} from "../../../../packages/console/src/pages/run/timeline-lines.ts";

const hour = 3_600_000;

it("the timeline of a run draws time to scale if the run contains no long wait", () => {
  const { at, gaps } = buildScale({ from: 0, to: 1000 }, [
    { from: 0, to: 400 },
    { from: 600, to: 1000 },
  ]);
  expect([at(0), at(400), at(1000), gaps]).toEqual([0, 0.4, 1, []]);
});

it("the timeline of a run shortens an hour of waiting, and draws busy periods to scale", () => {
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
])("the timeline of a run fills its width if %s", (_, busy) => {
  const { at } = buildScale({ from: 0, to: hour }, busy);
  expect([at(0), at(hour)]).toEqual([0, 1]);
  expect(at(hour) - at(hour / 2)).toBeGreaterThan(0.1);
});

it("the timeline of a run shortens each of many long waits to a visible minimum, and lengthens no short wait", () => {
  const busy = Array.from({ length: 20 }, (_, index) => ({ from: index * hour, to: index * hour + 1000 }));
  const { gaps } = buildScale({ from: 0, to: 19 * hour + 1000 }, busy);
  expect(gaps).toHaveLength(19);
  for (const { width } of gaps) expect(width).toBeCloseTo(0.06 / (1 + 19 * 0.06));
  const short = buildScale({ from: 0, to: 11_600 }, [{ from: 0, to: 10_000 }]);
  expect(short.at(10_000)).toBeCloseTo(10_000 / 11_600);
});

it("the timeline of a run draws everything at its left end if the run took no time", () => {
  expect(buildScale({ from: 5, to: 5 }, []).at(5)).toBe(0);
});

it("the axis of a timeline has ticks at round times since the start of the run", () => {
  const whole = { from: 500, to: 3500 };
  const ticks = listTicks(whole, whole, buildScale(whole, [whole]));
  expect(ticks.map(({ time }) => time)).toEqual([500, 1000, 1500, 2000, 2500, 3000]);
  expect(ticks[2]?.at).toBeCloseTo(1 / 3);
});

it("the axis of a timeline continues after a shortened wait, and no labels overlap", () => {
  const whole = { from: 0, to: hour + 2000 };
  const busy = [
    { from: 0, to: 2000 },
    { from: hour, to: hour + 2000 },
  ];
  const places = listTicks(whole, whole, buildScale(whole, busy)).map(({ at }) => at);
  expect(places.some((at) => at < 0.5) && places.some((at) => at > 0.6)).toBe(true);
  for (const [index, at] of places.slice(1).entries()) expect(at - (places[index] ?? 0)).toBeGreaterThan(0.08);
});

it("the axis of a timeline leaves space for milliseconds between its ticks in a long run with short nodes", () => {
  const whole = { from: 0, to: hour };
  const places = listTicks(whole, whole, buildScale(whole, [{ from: 0, to: 100 }])).map(({ at }) => at);
  expect(places.length).toBeGreaterThan(2);
  for (const [index, at] of places.slice(1).entries()) expect(at - (places[index] ?? 0)).toBeGreaterThan(0.18);
});

it("each position of the timeline stands for the time that is drawn at this position, even after a shortened wait", () => {
  const busy = [
    { from: 0, to: 100 },
    { from: hour, to: hour + 100 },
  ];
  const { at, timeAt } = buildScale({ from: 0, to: hour + 100 }, busy);
  for (const ms of [0, 70, hour / 2, hour + 30]) expect(Math.abs(timeAt(at(ms)) - ms)).toBeLessThan(20);
});

const whole = { from: 1000, to: 9000 };

it("the period of a timeline stays inside the run, and the URL contains it in milliseconds since the start", () => {
  expect(parsePeriod("2000-4000", whole)).toEqual({ from: 3000, to: 5000 });
  expect(formatPeriod({ from: 3000, to: 5000 }, whole)).toBe("2000-4000");
  expect(formatPeriod(whole, whole)).toBeUndefined();
  expect(shiftPeriod({ from: 2000, to: 6000 }, whole, -0.5)).toEqual({ from: 1000, to: 5000 });
  const scale = buildScale({ from: 3000, to: 5000 }, [{ from: 3000, to: 5000 }]);
  expect(scalePeriod({ from: 3000, to: 5000 }, whole, scale, 0.5)).toEqual({ from: 3500, to: 4500 });
  expect(scalePeriod({ from: 3000, to: 5000 }, whole, scale, 8)).toEqual(whole);
});

it.each(["", "5", "-1-5", "4000-2000", "9000-9500", "1e3-2e3", "1-2x"])(
  "the timeline shows the whole run if the URL contains the invalid period %j",
  (text) => expect(parsePeriod(text, whole)).toEqual(whole),
);

it("the item strip of a map joins items that ended together, and shows one failure among thousands of items", () => {
  const items = Array.from({ length: 5000 }, (_, index) => {
    return { at: index, state: index === 3333 ? "failed" : "success" } as const;
  });
  const marks = listMarks(items, buildScale({ from: 0, to: 5000 }, [{ from: 0, to: 5000 }]));
  expect(marks.length).toBeLessThanOrEqual(201);
  expect(marks.reduce((sum, { ended }) => sum + ended, 0)).toBe(5000);
  expect(marks.filter(({ state }) => state === "failed").map(({ failed }) => failed)).toEqual([1]);
});

it("the critical path of a run follows the branch that ended last", () => {
  const entry = (node_id: string, second: number, branches?: object[]) => {
    return { node_id, timestamp: `2026-11-25T10:00:0${second}.000Z`, branches };
  };
  const slow = [entry("slow", 2), entry("slower", 5)];
  const fork = entry("fork", 1, [{ entries: [entry("fast", 4)] }, { entries: slow }, { entries: [] }]);
  const path = listCritical([fork, entry("after", 6)] as never);
  expect(path.map(({ node_id }) => node_id)).toEqual(["fork", "slow", "slower", "after"]);
});
