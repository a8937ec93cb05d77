import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { runCommandLine } from "../../../packages/cli/src/main.ts";
import { keepPython, lendPython } from "../../support/known-python.ts";
import { Terminal } from "./terminal.ts";

const bin = fileURLToPath(new URL("../../../packages/cli/bin/nova.js", import.meta.url));

export interface Ended {
  code: number | null;
  stdout: string;
  stderr: string;
}

export interface Started {
  child: ChildProcess;
  ended: Promise<Ended>;
  /** Resolves when the process prints a line with this text, on stdout or stderr. */
  line(part: string): Promise<string>;
}

/** Starts `nova` in the folder `cwd` as a process that can get signals. */
export function startNova(cwd: string, ...args: string[]): Started {
  const child = spawn(process.execPath, [bin, ...args], { cwd, stdio: ["ignore", "pipe", "pipe"] });
  const [lines, waiting] = [[] as string[], new Set<() => void>()];
  const errorLines: string[] = [];
  for (const [input, heard] of [[child.stdout, lines] as const, [child.stderr, errorLines] as const])
    createInterface({ input }).on("line", (line) => {
      heard.push(line);
      for (const look of waiting) look();
    });
  const whole = (heard: string[]) => heard.map((line) => `${line}\n`).join("");
  const ended = once(child, "close").then(() => ({
    code: child.exitCode,
    stdout: whole(lines),
    stderr: whole(errorLines),
  }));
  return { child, ended, line };

  function line(part: string): Promise<string> {
    return new Promise((resolve, reject) => {
      const look = () => {
        const found = [...lines, ...errorLines].find((one) => one.includes(part));
        if (found !== undefined) resolve(found);
      };
      waiting.add(look);
      look();
      ended.then(({ stderr }) =>
        reject(new Error(`nova ended before it said "${part}": ${lines.join("\n")}${stderr}`)),
      );
    });
  }
}

/**
 * Runs a command in this process, in the folder `cwd`, because a process of its own takes half a second to load.
 * Commands that run at the same time must have the same folder.
 */
export async function nova(cwd: string, ...args: string[]): Promise<Ended> {
  process.chdir(cwd);
  const terminal = new Terminal();
  const code = await terminal.run(() => runCommandLine(args));
  keepPython(join(cwd, ".nova"));
  return { code, stdout: terminal.stdout, stderr: terminal.stderr };
}

export async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "nova-cli-"));
  lendPython(join(folder, ".nova"));
  return folder;
}

/** Writes a workflow of actions in a row. `nodes` has the Python of each action. */
export async function writeChain(
  folder: string,
  id: string,
  nodes: Record<string, string>,
  workflow: object = {},
): Promise<void> {
  const path = ["start", ...Object.keys(nodes), "end"];
  const definition = {
    id,
    ...workflow,
    nodes: path.map((node) => ({ id: node, ...(nodes[node] === undefined ? { type: node } : actionOf(nodes[node])) })),
    edges: path.slice(1).map((to, index) => ({ from: path[index], to })),
  };
  await mkdir(join(folder, id), { recursive: true });
  await writeFile(join(folder, id, "workflow.json"), JSON.stringify(definition));
}

function actionOf(code: string): object {
  return { type: "action", code };
}
