import { createHash } from "node:crypto";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { NovaClient } from "@nova/client";
import { RawJson } from "@nova/engine";
import { parseWorkflow } from "@nova/workflow";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { limitSize } from "../../../packages/cli/src/api/client.ts";
import { readBlob } from "../../../packages/cli/src/api/recorded.ts";
import { pullExecution } from "../../../packages/cli/src/commands/pull.ts";
import { action, row } from "../../workflow/definition.ts";

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "nova-pull-"));
});
afterEach(async () => {
  vi.unstubAllGlobals();
  await rm(root, { recursive: true });
});

const definition = row(action("read", { code: undefined, codeFile: "nodes/read.py" }));
const source = { text: JSON.stringify(definition), fileName: "workflow.json", files: { "nodes/read.py": "x = 1" } };
const workflow = parseWorkflow({ ...source, folder: "pay" }).workflow;

interface Answers {
  workflowId?: unknown;
  version?: unknown;
  workflow?: unknown;
  context?: string;
  blob?: Uint8Array;
}

/** A server that may send any answer. */
function hostile(answers: Answers): NovaClient {
  const { workflowId = "pay", version = 1, context = "{}", blob = Buffer.from("") } = answers;
  const entry = { node_id: "start", node_type: "start", output_result: new RawJson(context), input_context: null };
  vi.stubGlobal("fetch", async () => new Response(Buffer.from(blob)));
  const bytes = { url: "https://nova.example.com/bytes" };
  return {
    executions: {
      async *chain() {
        yield entry;
      },
    },
    workflows: { get: async () => ({ definition: answers.workflow ?? workflow }) },
    api: { GET: (path: string) => (path.includes("blobs") ? bytes : { workflow: workflowId, version, path: [] }) },
    ask: async (answer: object) => answer,
  } as unknown as NovaClient;
}

const withFile = (file: string) => JSON.parse(JSON.stringify(workflow).replaceAll("nodes/read.py", file));
const withLib = (path: string) => ({ ...workflow, lib: { [path]: "x = 1" } });
const pull = (answers: Answers, folder?: string) =>
  pullExecution(hostile(answers), { execution: "exec_01ABCDEF", node: undefined, folder });

describe("a server's answer to nova pull", () => {
  it("is written to a new folder", async () => {
    const into = join(root, "into");
    const pulled = await pull({}, into);
    expect(pulled).toMatchObject({ workflow: "pay", version: 1 });
    expect((await readdir(into, { recursive: true })).sort()).toEqual([
      "context.json",
      "nodes",
      "nodes/read.py",
      "workflow.json",
    ]);
    expect(await readFile(join(into, "nodes/read.py"), "utf8")).toBe("x = 1");
  });

  it.each<[string, Answers]>([
    ["an id that leads out of the folder", { workflowId: "../../etc" }],
    ["an id that is a path", { workflowId: "/tmp/x" }],
    ["an id with an escape sequence", { workflowId: "pay\u001b[2J" }],
    ["an id that is not a text", { workflowId: { toString: () => "pay" } }],
    ["no id", { workflowId: "" }],
    ["an invalid version", { version: "1; rm" }],
    ["no definition", { workflow: 7 }],
    ["a definition with another structure", { workflow: { id: "pay", nodes: "x", edges: [], lib: {} } }],
    ["a file outside the folder", { workflow: withFile("../read.py") }],
    ["a file whose path leaves the folder after a subfolder", { workflow: withFile("a/../../read.py") }],
    ["a file with an absolute path", { workflow: withFile("/tmp/read.py") }],
    ["a file on another drive", { workflow: withFile("C:/read.py") }],
    ["a file path with backslashes", { workflow: withFile("..\\\\..\\\\read.py") }],
    ["a hidden file", { workflow: withFile(".git/hooks/read.py") }],
    ["a file that is not code", { workflow: withFile("package.json") }],
    ["a second definition", { workflow: withFile("workflow.json") }],
    ["a file with an escape sequence in its name", { workflow: withFile("re\\u001b[2Jad.py") }],
    ["a file name whose direction is reversed", { workflow: withFile("re\u202edaer.py") }],
    ["a file with a name that is too long", { workflow: withFile(`${"x".repeat(300)}.py`) }],
    ["a path that is too long", { workflow: withFile(`${"x/".repeat(600)}read.py`) }],
    ["a module outside the folder", { workflow: withLib("../../read.py") }],
    ["a module without a name", { workflow: withLib("") }],
    ["a module that is not a text", { workflow: { ...workflow, lib: { "a.py": { length: 3 } } } }],
    ["a file below another file", { workflow: { ...workflow, lib: { "a.py": "", "a.py/b.py": "" } } }],
    [
      "an input whose key controls a terminal",
      { workflow: { ...workflow, inputs: { properties: { "a\u001b[2J": { secret: true } } } } },
    ],
    ["other bytes than the recorded ones", { context: reference("bytes"), blob: Buffer.from("other") }],
    ["another text than the recorded one", { context: reference("text"), blob: Buffer.from("other") }],
    ["bytes of another length", { context: reference("bytes", { bytes: 4 }), blob: Buffer.from("bytes") }],
    ["more bytes than may be read", { context: reference("bytes", { bytes: 1e15 }) }],
  ])("is refused if it has %s, and no file remains", async (_, answers) => {
    for (const folder of [join(root, "into"), undefined]) {
      if (folder === undefined && answers.workflowId === undefined) continue;
      const refused = await pull(answers, folder).catch((error: unknown) => error);
      expect(refused).toMatchObject({ name: "InvalidInput" });
      // biome-ignore lint/suspicious/noControlCharactersInRegex: none of them may be printed
      expect((refused as Error).message).not.toMatch(/[\u0000-\u001f\u202e]/);
    }
    expect(await readdir(root)).toEqual([]);
  });

  it("is not written into a folder that contains files", async () => {
    await writeFile(join(root, "mine.txt"), "mine");
    await expect(pull({}, root)).rejects.toThrow(/is not empty/);
    expect(await readdir(root)).toEqual(["mine.txt"]);
  });

  it("is not read to its end if it is longer than any answer of NOVA", async () => {
    const body = () => new Response("x".repeat(100));
    expect(await limitSize(body(), 100).text()).toHaveLength(100);
    await expect(limitSize(body(), 99).text()).rejects.toThrow("the server answered more than 99 bytes");
    expect(limitSize(new Response(null, { status: 204 }), 0).status).toBe(204);
  });

  it.each(["file:///etc/hostname", "data:text/plain,x", "ftp://host/x", "nothing"])(
    "causes no further request if it names the blob URL %s",
    async (url) => {
      const asked = vi.fn();
      vi.stubGlobal("fetch", asked);
      const server = { api: { GET: () => undefined }, ask: async () => ({ url }) };
      await expect(readBlob(server as unknown as NovaClient, "exec_1", "0".repeat(64))).rejects.toThrow(
        /sent no URL for the bytes/,
      );
      expect(asked).not.toHaveBeenCalled();
    },
  );
});

function reference(text: "bytes" | "text", more: object = {}): string {
  const sha256 = createHash("sha256").update(text).digest("hex");
  return JSON.stringify({ a: { $blob: { sha256, bytes: text.length, type: text, ...more } } });
}
