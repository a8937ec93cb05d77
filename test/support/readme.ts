import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { onTestFinished } from "vitest";

const root = join(import.meta.dirname, "..", "..");

/** Reads the code blocks of a README, by language and in order. */
export async function codeBlocks(path: string): Promise<Record<string, string[]>> {
  const blocks: Record<string, string[]> = {};
  const readme = await readFile(join(root, path), "utf8");
  for (const [, language = "", code = ""] of readme.matchAll(/```(\w+)\n(.*?)```/gs)) {
    blocks[language] ??= [];
    blocks[language].push(code);
  }
  return blocks;
}

/** Creates a folder for one test. The folder is deleted after the test. */
export async function emptyFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "readme-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** Finds `count` free ports in a row and returns the first one. */
export async function freePorts(count: number): Promise<number> {
  for (;;) {
    const first = 20_000 + Math.floor(Math.random() * 12_000);
    const ports = Array.from({ length: count }, (_, index) => first + index);
    const free = await Promise.all(ports.map(isFree));
    if (free.every(Boolean)) return first;
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, "127.0.0.1");
  const isListening = await once(server, "listening").then(
    () => true,
    () => false,
  );
  server.close();
  return isListening;
}

/**
 * Starts a server by a command of a README, in the folder `cwd`. Resolves as soon as the server has printed `count`
 * environment variables, and returns these variables.
 */
export async function startServer(command: string, cwd: string, count: number): Promise<Record<string, string>> {
  const [, bin = "", ...args] = command.trim().split(" ");
  const child = spawn(process.execPath, [join(root, bin), ...args], { cwd, stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(async () => {
    const exit = once(child, "exit");
    child.kill("SIGTERM");
    await exit;
  });
  const environment: Record<string, string> = {};
  for await (const line of createInterface({ input: child.stdout })) {
    const [, name = "", value = ""] = /^export (\w+)=(.*)$/.exec(line) ?? [];
    environment[name] = value;
    if (Object.keys(environment).length === count) break;
  }
  return environment;
}

/** Runs a JavaScript program from a README with the packages of this checkout, and returns its output. */
export async function outputOf(program: string, environment: Record<string, string>): Promise<string> {
  const child = spawn(process.execPath, ["--input-type=module", "--eval", program], {
    cwd: root,
    env: { ...process.env, ...environment },
    stdio: ["ignore", "pipe", "inherit"],
  });
  return text(child.stdout);
}
