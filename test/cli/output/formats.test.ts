import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import type { Log } from "sarif";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { githubLines, sarifLog } from "../../../packages/cli/src/output/formats.ts";
import { newFolder, nova, startNova } from "../support/nova.ts";

let cwd: string;
beforeAll(async () => {
  cwd = await newFolder();
  await mkdir(join(cwd, "bad"));
  const nodes = [
    { id: "start", type: "start" },
    { id: "work", type: "action", code: "context['a'] = totl" },
    { id: "end", type: "end" },
  ];
  const edges = [
    { from: "start", to: "wrk" },
    { from: "work", to: "end" },
  ];
  await writeFile(join(cwd, "bad/workflow.json"), JSON.stringify({ nodes, edges }, null, 2));
});
afterAll(() => rm(cwd, { recursive: true }));

describe("nova validate --format", () => {
  it("github prints one annotation for each finding, with file and line", async () => {
    const { code, stdout } = await nova(cwd, "validate", "bad", "--format", "github");
    expect(code).toBe(2);
    expect(stdout).toMatch(/^::error file=bad\/workflow\.json,line=20,col=\d+,title=NOVA206::the edge /m);
    // This annotation has no line, because the finding names a line of the code inside the JSON, and an annotation
    // needs a line of the file.
    expect(stdout).toMatch(/^::error file=bad\/workflow\.json,title=NOVA602::/m);
  });

  it("sarif prints a log of SARIF 2.1.0 with a rule for each code", async () => {
    const { code, stdout } = await nova(cwd, "validate", "bad", "--format", "sarif");
    const log = JSON.parse(stdout) as Log;
    const [run] = log.runs;
    expect([code, log.version, log.runs.length]).toEqual([2, "2.1.0", 1]);
    const rules = run?.tool.driver.rules?.map(({ id }) => id) ?? [];
    for (const { ruleId, ruleIndex = -1, level, locations } of run?.results ?? []) {
      expect([rules[ruleIndex], level]).toEqual([ruleId, expect.stringMatching(/^(error|warning)$/)]);
      expect(locations?.[0]?.physicalLocation?.artifactLocation?.uri).toMatch(/^bad\//);
    }
    expect(run?.results?.map(({ ruleId }) => ruleId)).toEqual(expect.arrayContaining(["NOVA206", "NOVA602"]));
  });

  it("sarif prints a log that fits the schema of the standard, also without a finding", async () => {
    // A copy of the schema in the npm package @microsoft/sarif-multitool-linux 5.7.0 (MIT).
    const path = new URL("../../fixtures/sarif/sarif-2.1.0.json", import.meta.url);
    const validate = new Ajv2020({ strict: false, validateFormats: false, allErrors: true }).compile(
      JSON.parse(await readFile(path, "utf8")),
    );
    const { stdout } = await nova(cwd, "validate", "bad", "--format", "sarif");
    const wrong = { code: "NOVA1", severity: "fatal", path: "$", message: "x" } as never;
    for (const log of [JSON.parse(stdout), sarifLog([], ".")])
      expect([validate(log), validate.errors]).toEqual([true, null]);
    expect(validate(sarifLog([wrong], "."))).toBe(false);
  });

  it("cannot be combined with --json", async () => {
    const { code, stderr } = await nova(cwd, "validate", "bad", "--format", "sarif", "--json");
    expect([code, stderr]).toEqual([2, expect.stringContaining("exclude each other")]);
  });
});

it("nova validate --watch validates again after a change, until Ctrl-C", { timeout: 60_000 }, async () => {
  const { child, line, ended } = startNova(cwd, "validate", "bad", "--watch");
  await line("bad is not valid");
  await line("waiting for a change");
  const row = {
    nodes: [
      { id: "start", type: "start" },
      { id: "end", type: "end" },
    ],
    edges: [{ from: "start", to: "end" }],
  };
  await writeFile(join(cwd, "bad/workflow.json"), JSON.stringify(row));
  await line("bad is valid");
  child.kill("SIGINT");
  expect((await ended).code).toBe(0);
});

it("annotations for GitHub and logs in SARIF escape the characters that these formats reserve", () => {
  const finding = {
    code: "NOVA206",
    severity: "error",
    path: "$",
    message: "50 %\nnext",
    file: "a,b c:d.py",
    line: 2,
  } as const;
  expect(githubLines([finding], ".")).toEqual([
    "::error file=a%2Cb c%3Ad.py,line=2,col=1,title=NOVA206::50 %25%0Anext",
  ]);
  const log: Log = sarifLog([finding], ".");
  const [location] = log.runs[0]?.results?.[0]?.locations ?? [];
  expect(location?.physicalLocation).toEqual({
    artifactLocation: { uri: "a,b%20c:d.py" },
    region: { startLine: 2, startColumn: 1 },
  });
});
