import { cp, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { locateInProgram, parseWorkflow, readWorkflowSource } from "@nova/workflow";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "nova-program-"));
});

afterAll(() => rm(folder, { recursive: true }));

async function write(name: string, text: string): Promise<string> {
  await writeFile(join(folder, name), text);
  return join(folder, name);
}

const sound = `import { action, defineWorkflow, end, start } from "@nova/workflow";
const steps: string[] = ["a", "b"];
const nodes = Object.fromEntries(steps.map((id) => [id, action({ code: \`context["\${id}"] = 1\` })]));
export default defineWorkflow({
  nodes: { start: start(), ...nodes, end: end() },
  edges: [...["start", ...steps].entries()].map(([at, from]) => ({ from, to: [...steps, "end"][at] as string })),
});
`;

const wrong = `import { action, decision, defineWorkflow, end, start } from "@nova/workflow";

const code = "pass";
export default defineWorkflow({
  inputs: 7 as never,
  nodes: {
    start: start(),
    ask: action({
      code,
      timeout: 0.5,
    }),
    where: decision({ codeFile: "nope.py" }),
    end: end(),
  },
  edges: [
    { from: "start", to: "ask" },
    { from: "ask", to: "were" as never },
    { from: "where", to: "end", condition: "default" },
  ],
});
`;

describe("a TypeScript program as the definition of a workflow", () => {
  it("is read as JSON even if no packages are installed beside it, and is named after its file", async () => {
    const source = await readWorkflowSource(await write("two-steps.ts", sound));
    const { workflow, findings } = parseWorkflow(source);
    expect(findings).toEqual([]);
    expect(workflow).toMatchObject({ id: "two-steps", nodes: [{}, { id: "a" }, { id: "b" }, {}] });
    expect(source).toMatchObject({ fileName: "two-steps.ts", program: sound });
  });

  it("is read together with the files beside it if it is the workflow.ts of a folder", async () => {
    const whole = await mkdtemp(join(folder, "whole-"));
    await cp(await write("sound.ts", sound), join(whole, "workflow.ts"));
    await writeFile(join(whole, "notes.md"), "text");
    expect((await readWorkflowSource(whole)).files).toEqual({ "notes.md": "text" });
  });

  it("gets findings with the lines of the program, even if a server has checked only its JSON", async () => {
    const source = await readWorkflowSource(await write("wrong.ts", wrong));
    const { findings } = parseWorkflow(source);
    const places = findings.map(({ path, file, line, column }) => [path, `${file}:${line}:${column}`]);
    expect(Object.fromEntries(places)).toEqual({
      "$.inputs": "wrong.ts:5:3",
      "$.nodes[1].timeout": "wrong.ts:10:7",
      "$.nodes[2].codeFile": "wrong.ts:12:23",
      "$.edges[1].to": "wrong.ts:17:7",
    });
    const { program: _, ...sent } = source;
    const there = parseWorkflow({ ...sent, fileName: "workflow.json" }).findings;
    expect(locateInProgram(there, source)).toEqual(findings);
  });

  it.each([
    ["export const x = 1;", "it has no `export default defineWorkflow({...})`", {}],
    ['\n\nthrow new Error("boom\\nbang");', "boom", { line: 3, column: 7 }],
    ["process.exit(0);", "it ended before it had exported anything", {}],
    ["export default { id: 1n };", "Do not know how to serialize a BigInt", {}],
    ["enum A { B }\nexport default {};", "TypeScript enum is not supported in strip-only mode", { line: 1 }],
  ])("gets one finding if it exports no workflow: %s", async (text, problem, place) => {
    const path = await write("none.ts", text);
    await expect(readWorkflowSource(path)).rejects.toMatchObject({
      message: `none.ts makes no workflow: ${problem} - correct it`,
      finding: { code: "NOVA101", file: "none.ts", ...place },
    });
  });
});
