import { codeHashOf, hashOf, lockText, workflowHash } from "@nova/workflow";
import { describe, expect, it } from "vitest";
import { action, each, type Loose, parse, row } from "../definition.ts";
import { locked, lockFiles } from "./locked.ts";

const sum = action("sum", { code: undefined, executor: "prompt", prompt: "Add up the lines." });
const approved = { by: "ada", at: "2026-11-22T11:00:00.000Z" };

function findingsOf(definition: Loose, files: Record<string, string>) {
  return parse(definition, files).findings.filter(({ code }) => code.startsWith("NOVA8"));
}

describe("a workflow with a lock file", () => {
  it("has the locked code of its prompt nodes, including those of a map", () => {
    const inMap = row(each("all", [sum]));
    for (const definition of [row(sum), inMap]) {
      expect(parse(definition, lockFiles()).workflow?.lock).toEqual({ sum: locked() });
    }
  });

  it("is another version if its code or the approver changes", () => {
    const hashes = [lockFiles(), lockFiles({ approved }), lockFiles({ approved: { ...approved, by: "bob" } }), {}].map(
      (files) => workflowHash(parse(row(sum), files as Record<string, string>).workflow as never),
    );
    expect(new Set(hashes).size).toBe(4);
  });

  it("has no lock without entries, so that its version stays", () => {
    expect(parse(row(sum), { "workflow.lock.json": '{"format": 1, "nodes": {}}' }).workflow).toEqual(
      parse(row(sum)).workflow,
    );
  });
});

describe("the checks of locked code", () => {
  it.each<[string, string, Loose, Record<string, string>, string]>([
    ["a lock file that cannot be read", "NOVA801", row(sum), { "workflow.lock.json": "{" }, "workflow.lock.json"],
    ["code that is not there", "NOVA802", row(sum), lockFiles({}, null), "workflow.lock.json"],
    ["code edited by hand", "NOVA803", row(sum), lockFiles({}, "a = 2"), "generated/sum.py"],
    ["code of a node that is not there", "NOVA804", row(action("other")), lockFiles(), "workflow.lock.json"],
    ["code of a node whose code is written by hand", "NOVA804", row(action("sum")), lockFiles(), "workflow.lock.json"],
    ["code that nobody approved", "NOVA805", { ...row(sum), approval: "required" }, lockFiles(), "workflow.lock.json"],
  ])("find %s", (_, code, definition, files, file) => {
    expect(findingsOf(definition, files)).toEqual([expect.objectContaining({ code, file, line: 1 })]);
  });

  it.each([
    ["nova lock takes the edit", lockFiles({}, "a = 2")],
    ["nova lock to remove its entry", lockFiles({}, null)],
    ["remove it and run nova lock", { "workflow.lock.json": "{" }],
  ])("report the way out: %s", (wayOut, files) => {
    expect(findingsOf(row(sum), files)[0]?.message).toContain(wayOut);
  });

  it("name the wrong file of the two, and both if a person has to look at them", () => {
    const analysis = "result = 1";
    const { code, ...rest } = locked({ codeHash: codeHashOf({ code: locked().code, analysis }) });
    const files = (texts: Record<string, string>) => ({
      "workflow.lock.json": lockText({ sum: { ...rest, analysisHash: hashOf(analysis) } }),
      ...texts,
    });
    const [sumFile, analysisFile] = ["generated/sum.py", "generated/sum.analysis.py"];
    const edited = { [sumFile]: code, [analysisFile]: "result = 2" };
    expect(findingsOf(row(sum), files(edited))).toMatchObject([{ code: "NOVA803", file: analysisFile }]);
    const [missing] = findingsOf(row(sum), files({ [sumFile]: code }));
    expect(missing).toMatchObject({ code: "NOVA802", message: expect.stringContaining(analysisFile) });
    const whole = files({ [sumFile]: code, [analysisFile]: analysis });
    const [unapproved] = findingsOf({ ...row(sum), approval: "required" }, whole);
    expect(unapproved?.message).toContain(`look at ${sumFile} and ${analysisFile}`);
    expect(parse(row(sum), whole).workflow?.lock).toMatchObject({ sum: { code, analysis } });
  });

  it("suggest the node that an entry may belong to", () => {
    const [found] = findingsOf(row({ ...sum, id: "sums" }), lockFiles());
    expect(found).toMatchObject({ code: "NOVA804", severity: "warning", message: expect.stringContaining('"sums"?') });
  });

  it("find nothing if a required approval is given, or if none is required", () => {
    expect(findingsOf({ ...row(sum), approval: "required" }, lockFiles({ approved }))).toEqual([]);
    expect(findingsOf(row(sum), lockFiles())).toEqual([]);
  });

  it("do not report an entry of an unreadable node as unknown", () => {
    expect(findingsOf(row({ ...sum, timeout: "soon" }), lockFiles())).toEqual([]);
  });

  it("keep unlocked code out of the workflow", () => {
    expect(parse(row(sum), lockFiles({}, "a = 2")).workflow?.lock).toBeUndefined();
  });
});
