import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { readdir, rename, rm, stat } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

const packageFolder = join(import.meta.dirname, "..");
const dist = join(packageFolder, "dist");
const sourceFolders = ["src", "../verify/src", "../verify/page", "../verify/tools"];

let building: Promise<string> | undefined;

/**
 * Returns the path of the folder that contains the built page. If the page is missing or older than its sources, first
 * builds it. The build takes seconds.
 */
export function buildPage(): Promise<string> {
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
  const [builtMs, changedMs] = await Promise.all([readModifiedMs(join(dist, "index.html")), readNewestSourceMs()]);
  return builtMs < changedMs;
}

/**
 * Builds the page in a new folder, and then renames the folder. If another process has built the page meanwhile, keeps
 * the page of that process, because browsers may have this page open.
 */
async function build(): Promise<void> {
  const newFolder = `${dist}.${randomUUID()}`;
  const oldFolder = `${dist}.${randomUUID()}`;
  try {
    await buildInto(newFolder);
    if (!(await isStale())) return;
    await rename(dist, oldFolder).catch(ignoreErrors("ENOENT"));
    await rename(newFolder, dist).catch(ignoreErrors("ENOTEMPTY", "EEXIST"));
  } finally {
    for (const folder of [newFolder, oldFolder]) await rm(folder, { recursive: true, force: true });
  }
}

function ignoreErrors(...codes: string[]) {
  return (error: NodeJS.ErrnoException) => {
    if (!codes.includes(error.code ?? "")) throw error;
  };
}

/**
 * Builds the console, and the page `verify.html`, which checks a proof offline. The console offers this page as a
 * download. Builds the console in a separate process with NODE_ENV=production, because any other value makes React
 * three times as large and three times as slow.
 */
async function buildInto(folder: string): Promise<void> {
  const vite = join(dirname(createRequire(import.meta.url).resolve("vite/package.json")), "bin/vite.js");
  const args = [vite, "build", packageFolder, "--outDir", folder, "--emptyOutDir", "--logLevel", "error"];
  await run(process.execPath, args, { env: { ...process.env, NODE_ENV: "production" } });
  const { buildVerifyPage } = await import("@nova/verify/page");
  await buildVerifyPage(join(folder, "verify.html"));
}

async function readNewestSourceMs(): Promise<number> {
  const sources = ["index.html", "vite.config.ts", "package.json"];
  for (const folder of sourceFolders)
    for (const name of await readdir(join(packageFolder, folder), { recursive: true }))
      sources.push(join(folder, name));
  return Math.max(...(await Promise.all(sources.map((name) => readModifiedMs(join(packageFolder, name))))));
}

/** Returns the time of a file's last change in milliseconds since 1970; 0 for a missing file. */
async function readModifiedMs(path: string): Promise<number> {
  return (await stat(path).catch(() => undefined))?.mtimeMs ?? 0;
}
