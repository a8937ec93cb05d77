import { describe, expect, it } from "vitest";
import { mergeReads, needsAnalysis } from "../../packages/agents/src/lock/reads.ts";

describe("code", () => {
  it.each([
    ['context["_data_analysis"]["rows"]', true],
    ["context.get('_data_analysis', {})", true],
    ['key = "_data_analysis"', true],
    ['context["data_analysis"]', false],
    ['context["total"] = 1', false],
  ])("%s needs an analysis: %s", (code, needs) => {
    expect(needsAnalysis(code)).toBe(needs);
  });
});

describe("the merged reads of code and analysis", () => {
  const read = (path: string, optional = false) => ({ path, optional });

  it("contain the reads of both, once each", () => {
    expect(mergeReads([read("a"), read("b.c")], [read("b"), read("a")])).toEqual([
      ...[read("a"), read("b.c"), read("b")],
    ]);
  });

  it.each([
    ["code", [read("a")], [read("a", true)]],
    ["analysis", [read("a", true)], [read("a")]],
  ])("are required if the %s requires them", (_, code, analysis) => {
    expect(mergeReads(code, analysis)).toEqual([read("a")]);
  });

  it("exclude the analysis result", () => {
    const told = [read("_data_analysis"), read("_data_analysis.rows", true)];
    expect(mergeReads([...told, read("_data_analysis_of_last_year")], told)).toEqual([
      read("_data_analysis_of_last_year"),
    ]);
  });
});
