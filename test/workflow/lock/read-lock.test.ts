import {
  codeFileText,
  codeHashOf,
  hashOf,
  type LockedCode,
  type LockRecord,
  lockText,
  readLockFile,
  workflowHash,
} from "@nova/workflow";
import { describe, expect, it } from "vitest";
import frozen from "../../fixtures/formats/lock-1.json" with { type: "json" };
import { action, each, type Loose, parse, row } from "../definition.ts";

const code = 'context["total"] = 7';

function record(fields: Partial<LockRecord> = {}): LockRecord {
  return {
    key: "a".repeat(64),
    codeHash: hashOf(code),
    origin: "generated",
    model: "gpt-6-luna",
    cost: { usd: 0.0012, tokens_input: 900, tokens_cached: 400, tokens_output: 120 },
    createdAt: "2026-11-22T10:00:00.000Z",
    provenBy: "exec_01",
    ingredients: {
      prompt: "Add up the lines.",
      node_type: "action",
      edges: [],
      reads: { lines: "list", "order.discount?": "number" },
      generator: "1",
      guides: { money: "b".repeat(64), csv: "c".repeat(64) },
      model: "default",
      settings: "",
      template: "1",
      requirements: [],
      lib: {},
    },
    ...fields,
  };
}

function locked(fields: Partial<LockRecord> = {}): LockedCode {
  return { ...record(fields), code };
}

/**
 * Returns the files of a folder with one locked node. `file` is the content of `generated/sum.py`; null if that file is
 * missing.
 */
function lockFiles(fields: Partial<LockRecord> = {}, file: string | null = `${code}\n`): Record<string, string> {
  const generated: Record<string, string> = file === null ? {} : { "generated/sum.py": file };
  return { "workflow.lock.json": lockText({ sum: record(fields) }), ...generated };
}

const lf = `${code}\nprint(context)`;

describe("the lockfile `workflow.lock.json`", () => {
  it("is read as null if the folder has no such file", () => {
    expect(readLockFile({ "generated/sum.py": code })).toBeNull();
  });

  it("is read with all of its fields", () => {
    const whole = record({ origin: "edited", approved: { by: "ada", at: "2026-11-22T11:00:00.000Z" } });
    expect(readLockFile(lockFiles(whole))).toEqual({ nodes: { sum: { record: whole, state: "locked", code } } });
  });

  it("is written as the same text for any order of its nodes and fields", () => {
    const { ingredients, ...rest } = record();
    const { reads, guides, ...others } = ingredients;
    const shuffled = {
      ingredients: {
        guides: { csv: guides.csv as string, money: guides.money as string },
        reads: Object.fromEntries(Object.entries(reads).reverse()),
        ...others,
      },
      ...rest,
    };
    expect(lockText({ b: shuffled, a: record() })).toBe(lockText({ a: record(), b: record() }));
  });

  it("is written with a separate line for each value", () => {
    const [before, after] = [record(), record({ provenBy: "exec_02" })].map((one) =>
      lockText({ sum: one }).split("\n"),
    );
    expect(after?.filter((line) => !before?.includes(line))).toEqual(['      "proven_by": "exec_02",']);
    expect(lockText({ sum: record() })).toContain('\n          "order.discount?": "number"');
  });

  it.each([
    ["conflict marks of git", "<<<<<<< HEAD\n{}\n=======\n{}\n>>>>>>> main\n", /merge/],
    ["text that is not JSON", "{", /is not JSON/],
    ["a newer format", '{"format": 2, "nodes": {}}', /format 2, made by a newer NOVA/],
    ["a null instead of an object", "null", /damaged at its top/],
    ["an unknown field", '{"format": 1, "nodes": {}, "note": ""}', /damaged at its top/],
    ["an invalid key", lockText({ sum: record({ key: "12" }) }), /damaged at nodes\.sum\.key/],
  ])("is reported as damaged if it has %s", (_, text, problem) => {
    expect(readLockFile({ "workflow.lock.json": text })).toEqual({ problem: expect.stringMatching(problem) });
  });
});

/** `frozen` has files of format 1 as an earlier NOVA wrote them. Never regenerate them. */
describe("a lockfile of format 1", () => {
  it("is read with the nodes that the stored samples name", () => {
    expect(readLockFile(frozen.files)).toEqual({ nodes: frozen.nodes });
  });

  it("is written exactly like the stored samples", () => {
    const { look, sum } = frozen.nodes;
    const records = { look: look.record, sum: sum.record } as unknown as Record<string, LockRecord>;
    expect(lockText(records)).toBe(frozen.files["workflow.lock.json"]);
  });
});

describe("the two files of locked code that has an analysis", () => {
  const analysis = 'result = {"rows": 2}';
  const hashes = { codeHash: codeHashOf({ code, analysis }), analysisHash: hashOf(analysis) };
  const files = (generated: Record<string, string>) => ({
    "workflow.lock.json": lockText({ sum: record(hashes) }),
    ...Object.fromEntries(Object.entries(generated).map(([name, text]) => [`generated/${name}`, text])),
  });
  const read = (generated: Record<string, string>) => readLockFile(files(generated));
  const both = { "sum.py": codeFileText(code), "sum.analysis.py": codeFileText(analysis) };

  it("contain the code and the analysis, byte for byte, with any line endings", () => {
    const state = { record: record(hashes), state: "locked", code, analysis };
    expect(read(both)).toEqual({ nodes: { sum: state } });
    const crlf = { "sum.py": `${code}\r\n`, "sum.analysis.py": `\uFEFF${analysis}\r\n` };
    expect(read(crlf)).toEqual({ nodes: { sum: state } });
  });

  it.each([
    ["sum.py", { code: "a = 1\n", analysis }],
    ["sum.analysis.py", { code, analysis: "a = 1\n" }],
  ])("count as edited if the file %s was edited", (name, texts) => {
    const edited = read({ ...both, [name]: "a = 1\n" });
    expect(edited).toMatchObject({ nodes: { sum: { state: "edited", file: `generated/${name}`, ...texts } } });
  });

  it.each([
    ["sum.py", "sum.analysis.py"],
    ["sum.analysis.py", "sum.py"],
  ])("count as missing if the file %s is missing, whether or not the other file was edited", (missing, other) => {
    const { [missing as keyof typeof both]: _, ...left } = both;
    const file = `generated/${missing}`;
    expect(read(left)).toEqual({ nodes: { sum: { record: record(hashes), state: "missing", file } } });
    expect(read({ [other]: "a = 1" })).toMatchObject({
      nodes: { sum: { state: "missing", file, edited: `generated/${other}` } },
    });
  });

  it("do not include the file of an analysis that the lockfile does not name", () => {
    const stray = { ...lockFiles(), "generated/sum.analysis.py": "a = 1" };
    expect(readLockFile(stray)).toEqual({ nodes: { sum: { record: record(), state: "locked", code } } });
  });

  it("share one hash, which changes if the code or the analysis changes", () => {
    const hashesOf = [{ code }, { code, analysis }, { code, analysis: "" }, { code: "", analysis }].map(codeHashOf);
    expect(new Set(hashesOf).size).toBe(4);
    expect(codeHashOf({ code })).toBe(hashOf(code));
  });
});

describe("the file of locked code", () => {
  it.each([
    ["as NOVA wrote it", codeFileText(lf)],
    ["without the last line end", lf],
    ["with the line ends of Windows", codeFileText(lf).replaceAll("\n", "\r\n")],
    ["with the line ends of Windows and a byte order mark", `\uFEFF${codeFileText(lf).replaceAll("\n", "\r\n")}`],
  ])("%s contains the locked code, byte for byte", (_, text) => {
    const read = readLockFile(lockFiles({ codeHash: hashOf(lf) }, text));
    expect(read).toMatchObject({ nodes: { sum: { state: "locked", code: lf } } });
  });

  it("is returned with the line endings of the locked code, even if the file has other line endings", () => {
    const crlf = "a = 1\r\nb = 2";
    const read = readLockFile(lockFiles({ codeHash: hashOf(crlf) }, codeFileText(crlf)));
    expect(read).toMatchObject({ nodes: { sum: { state: "locked", code: crlf } } });
  });

  it.each([
    ["another number in the code", `${code}0\n`],
    ["another indentation", `  ${code}\n`],
    ["no text at all", ""],
  ])("counts as edited by hand if it has %s", (_, text) => {
    expect(readLockFile(lockFiles({}, text))).toMatchObject({ nodes: { sum: { state: "edited", code: text } } });
  });

  it("counts as missing if it does not exist", () => {
    expect(readLockFile(lockFiles({}, null))).toEqual({
      nodes: { sum: { record: record(), state: "missing", file: "generated/sum.py" } },
    });
  });

  it("is read even for a node with the id `constructor`", () => {
    const files = { "workflow.lock.json": lockText({ constructor: record() }), "generated/constructor.py": code };
    expect(readLockFile(files)).toMatchObject({ nodes: { constructor: { state: "locked" } } });
  });
});

const sum = action("sum", { code: undefined, executor: "prompt", prompt: "Add up the lines." });
const approved = { by: "ada", at: "2026-11-22T11:00:00.000Z" };

function findingsOf(definition: Loose, files: Record<string, string>) {
  return parse(definition, files).findings.filter(({ code }) => code.startsWith("NOVA8"));
}

describe("a workflow with a lockfile", () => {
  it("contains the locked code of its prompt nodes, including those in a map", () => {
    const inMap = row(each("all", [sum]));
    for (const definition of [row(sum), inMap]) {
      expect(parse(definition, lockFiles()).workflow?.lock).toEqual({ sum: locked() });
    }
  });

  it("becomes another version if its locked code or the approver of this code changes", () => {
    const hashes = [lockFiles(), lockFiles({ approved }), lockFiles({ approved: { ...approved, by: "bob" } }), {}].map(
      (files) => workflowHash(parse(row(sum), files as Record<string, string>).workflow as never),
    );
    expect(new Set(hashes).size).toBe(4);
  });

  it("has no lock if the lockfile names no nodes, so that the version of the workflow stays the same", () => {
    expect(parse(row(sum), { "workflow.lock.json": '{"format": 1, "nodes": {}}' }).workflow).toEqual(
      parse(row(sum)).workflow,
    );
  });
});

describe("the checks of a lockfile", () => {
  it.each<[string, string, Loose, Record<string, string>, string]>([
    ["a lockfile that cannot be read", "NOVA801", row(sum), { "workflow.lock.json": "{" }, "workflow.lock.json"],
    ["locked code whose file is missing", "NOVA802", row(sum), lockFiles({}, null), "workflow.lock.json"],
    ["locked code that was edited by hand", "NOVA803", row(sum), lockFiles({}, "a = 2"), "generated/sum.py"],
    ["locked code of a node that does not exist", "NOVA804", row(action("other")), lockFiles(), "workflow.lock.json"],
    [
      "locked code of a node whose code is written by hand",
      "NOVA804",
      row(action("sum")),
      lockFiles(),
      "workflow.lock.json",
    ],
    [
      "locked code without the required approval",
      "NOVA805",
      { ...row(sum), approval: "required" },
      lockFiles(),
      "workflow.lock.json",
    ],
  ])("report %s", (_, code, definition, files, file) => {
    expect(findingsOf(definition, files)).toEqual([expect.objectContaining({ code, file, line: 1 })]);
  });

  it.each([
    ["nova lock takes the edit", lockFiles({}, "a = 2")],
    ["nova lock to remove its entry", lockFiles({}, null)],
    ["remove it and run nova lock", { "workflow.lock.json": "{" }],
  ])("say what to do: %s", (wayOut, files) => {
    expect(findingsOf(row(sum), files)[0]?.message).toContain(wayOut);
  });

  it("name the edited or missing file, or both files of the node if a person has to approve the code", () => {
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

  it("suggest the node that may be meant if the lockfile names an unknown node", () => {
    const [found] = findingsOf(row({ ...sum, id: "sums" }), lockFiles());
    expect(found).toMatchObject({ code: "NOVA804", severity: "warning", message: expect.stringContaining('"sums"?') });
  });

  it("report nothing if the required approval is there, or if no approval is required", () => {
    expect(findingsOf({ ...row(sum), approval: "required" }, lockFiles({ approved }))).toEqual([]);
    expect(findingsOf(row(sum), lockFiles())).toEqual([]);
  });

  it("do not report a node as unknown if the definition contains this node with wrong fields", () => {
    expect(findingsOf(row({ ...sum, timeout: "soon" }), lockFiles())).toEqual([]);
  });

  it("leave code that differs from the lockfile out of the workflow", () => {
    expect(parse(row(sum), lockFiles({}, "a = 2")).workflow?.lock).toBeUndefined();
  });
});
