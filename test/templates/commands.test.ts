// @module-tag deep
import { spawn } from "node:child_process";
import { mkdir, readFile, rm, symlink } from "node:fs/promises";
import { delimiter, dirname, join } from "node:path";
import { ensurePython } from "@nova/local";
import { templateNames } from "@nova/templates";
import { afterAll, beforeAll, expect, it } from "vitest";
import { newFolder } from "../cli/support/nova.ts";
import { root } from "../support/imports.ts";
import { type ModelServer, modelServer } from "../support/model-server/model-server.ts";

let cwd: string;
let server: ModelServer;
let env: NodeJS.ProcessEnv;

beforeAll(async () => {
  await ensurePython({ debian: true });
  cwd = await newFolder();
  server = await modelServer(({ input }) =>
    input.startsWith("Does") ? { json: { branch_decision: "ready" } } : { text: "1. Rain\n2. Springs" },
  );
  await mkdir(join(cwd, "bin"));
  await symlink(join(root, "packages/cli/bin/nova.js"), join(cwd, "bin/nova"));
  const path = [join(cwd, "bin"), dirname(process.execPath), process.env.PATH].join(delimiter);
  env = { ...process.env, ...server.environment, PATH: path, NO_COLOR: "1" };
}, 300_000);
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await rm(cwd, { recursive: true, force: true });
});

interface Printed {
  code: number | null;
  text: string;
}

/**
 * Runs one line in a shell, as an agent does. For a line that ends with `&`, `asked` resolves when the run waits for an
 * answer.
 */
function runLine(folder: string, line: string): { asked: Promise<void>; ended: Promise<Printed> } {
  const inBackground = line.endsWith("&");
  const child = spawn("bash", ["-c", line.replace(/&$/, "")], { cwd: folder, env });
  const asked = Promise.withResolvers<void>();
  let text = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (part) => {
      text += part;
      if (inBackground && text.includes("nova approve task_")) asked.resolve();
    });
  const ended = new Promise<Printed>((resolve) => child.on("close", (code) => resolve({ code, text })));
  ended.then(() => asked.resolve());
  return { asked: asked.promise, ended };
}

async function commandsIn(file: string): Promise<string[]> {
  const blocks = (await readFile(file, "utf8")).matchAll(/^```sh\n(.*?)^```/gms);
  const lines = Array.from(blocks, ([, block = ""]) => block.split("\n")).flat();
  return lines.map((line) => line.replace(/\s+# .*$/, "").trim()).filter((line) => line !== "");
}

it.for(templateNames)(
  "every command in AGENTS.md and in the skill of the template %s works",
  { timeout: 240_000 },
  async (name) => {
    expect(await runLine(cwd, `nova init ${name} --template ${name}`).ended).toMatchObject({ code: 0 });
    const folder = join(cwd, name);
    const [own, common] = await Promise.all(
      ["AGENTS.md", ".agents/skills/nova/SKILL.md"].map((file) => commandsIn(join(folder, file))),
    );
    expect([own?.length, common?.length]).toEqual([expect.any(Number), 9]);
    expect(own?.length).toBeGreaterThan(2);
    const [executions, open] = [[] as string[], [] as Promise<Printed>[]];
    for (const line of [...(own ?? []), ...(common ?? [])]) {
      const written = line
        .replace("<earlier>", executions.at(-2) ?? executions.at(-1) ?? "")
        .replace("<execution>", executions.at(-1) ?? "");
      const { asked, ended } = runLine(folder, written);
      if (line.endsWith("&")) {
        open.push(ended);
        await asked;
        const { text } = await runLine(folder, "nova executions --json").ended;
        executions.push(/exec_\w+/.exec(text)?.[0] ?? "");
        continue;
      }
      const { code, text } = await ended;
      expect({ line: written, code, text }).toMatchObject({ line: written, code: 0 });
      if (line.startsWith("nova run")) executions.push(/exec_\w+/.exec(text)?.[0] ?? "");
    }
    for (const { code, text } of await Promise.all(open)) expect({ code, text }).toMatchObject({ code: 0 });
  },
);
