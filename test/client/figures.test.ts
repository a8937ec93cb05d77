import { formatDuration, formatPercentile, formatRate, formatUsd, sumTimes } from "@nova/client";
import { describe, expect, it } from "vitest";

describe("the console and the command line", () => {
  it.each([
    [0, "0 ms"],
    [999, "999 ms"],
    [999.6, "1.00 s"],
    [1_000, "1.00 s"],
    [59_990, "59.99 s"],
    [59_996, "1 min 0 s"],
    [119_700, "2 min 0 s"],
    [361_000, "6 min 1 s"],
    [7_500_000, "2 h 5 min"],
    [360_000_000, "4 d 4 h"],
  ])("show %d ms as %s", (ms, text) => {
    expect(formatDuration(ms)).toBe(text);
  });

  it.each([
    [910, "910 ms"],
    [1_000, "1.0 s"],
    [9_900, "9.9 s"],
    [10_000, "10 s"],
    [59_000, "59 s"],
    [60_000, "1 min 0 s"],
  ])("show the percentile %d ms with no more digits than the API gives: %s", (ms, text) => {
    expect(formatPercentile(ms)).toBe(text);
  });

  it.each([
    [0, "0 %"],
    [0.5, "50.0 %"],
    [0.57, "57.0 %"],
    [0.8966, "89.6 %"],
    [0.99999, "99.9 %"],
    [1, "100 %"],
  ])("show the rate %d as %s", (rate, text) => {
    expect(formatRate(rate)).toBe(text);
  });

  it.each([
    [0, "$0.00"],
    [0.00001, "< $0.0001"],
    [0.5, "$0.5000"],
    [1, "$1.00"],
    [1234.5, "$1,234.50"],
  ])("show %d dollars as %s", (usd, text) => {
    expect(formatUsd(usd)).toBe(text);
  });

  it("sum the recorded times of entries and of their branches", () => {
    const times = { waiting_ms: 1, sandbox_ms: 20, model_ms: 300, code_ms: 4000 };
    const fork = { times, branches: [{ entries: [{ times }, { times, branches: [{ entries: [{ times }] }] }] }] };
    expect(sumTimes([fork, { times }])).toEqual({ waiting_ms: 5, sandbox_ms: 100, model_ms: 1500, code_ms: 20_000 });
    expect(sumTimes([])).toEqual({ waiting_ms: 0, sandbox_ms: 0, model_ms: 0, code_ms: 0 });
  });
});
