import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { readdir, rename, rm, stat } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

const home = join(import.meta.dirname, "..");
const dist = join(home, "dist");

let building: Promise<string> | undefined;

/** The folder of the built page. It is built where it is missing or older than its sources, which takes some seconds. */
export function builtPage(): Promise<string> {
  building ??= buildIfStale().finally(() => {
    building = undefined;
  });
  return building;
}

async function buildIfStale(): Promise<string> {
  if (await isStale()) await build();
  return dist;
}

async function isStale(): Promise<boolean> {
  const [built, changed] = await Promise.all([modified(join(dist, "index.html")), newestSource()]);
  return built < changed;
}

/** Beside its place, and then moved there. Where another process was faster, browsers have its page open: that one stays. */
async function build(): Promise<void> {
  const [beside, before] = [`${dist}.${randomUUID()}`, `${dist}.${randomUUID()}`];
  try {
    await buildInto(beside);
    if (!(await isStale())) return;
    await rename(dist, before).catch(unless("ENOENT"));
    await rename(beside, dist).catch(unless("ENOTEMPTY", "EEXIST"));
  } finally {
    for (const left of [beside, before]) await rm(left, { recursive: true, force: true });
  }
}

function unless(...codes: string[]) {
  return (error: NodeJS.ErrnoException) => {
    if (!codes.includes(error.code ?? "")) throw error;
  };
}

/** In a process of its own, whose NODE_ENV is known: with any other one React is three times as large, and as slow. */
async function buildInto(folder: string): Promise<void> {
  const vite = join(dirname(createRequire(import.meta.url).resolve("vite/package.json")), "bin/vite.js");
  const args = [vite, "build", home, "--outDir", folder, "--emptyOutDir", "--logLevel", "error"];
  await run(process.execPath, args, { env: { ...process.env, NODE_ENV: "production" } });
}

async function newestSource(): Promise<number> {
  const names = await readdir(join(home, "src"), { recursive: true });
  const sources = ["index.html", "vite.config.ts", "package.json", ...names.map((name) => join("src", name))];
  return Math.max(...(await Promise.all(sources.map((name) => modified(join(home, name))))));
}

/** Milliseconds; 0 where there is no such file. */
async function modified(path: string): Promise<number> {
  return (await stat(path).catch(() => undefined))?.mtimeMs ?? 0;
}
