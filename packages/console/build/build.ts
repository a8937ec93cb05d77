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
  const [built, changed] = await Promise.all([modified(join(dist, "index.html")), newestSource()]);
  if (built < changed) await build();
  return dist;
}

/** Beside its place, and then moved there: other processes serve a whole page or none. */
async function build(): Promise<void> {
  const beside = `${dist}.${randomUUID()}`;
  try {
    await buildInto(beside);
    await rm(dist, { recursive: true, force: true });
    await rename(beside, dist).catch(async (error: NodeJS.ErrnoException) => {
      // Another process has just put its own there.
      if (error.code !== "ENOTEMPTY" && error.code !== "EEXIST") throw error;
    });
  } finally {
    await rm(beside, { recursive: true, force: true });
  }
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
