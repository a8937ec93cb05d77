import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";
import { type E2bServer, openE2b, type Python } from "@nova/e2b-local";
import { docstringsScript, pythonFolder } from "@nova/sandbox/files";
import { writeWhole } from "@nova/serve-local";
import { templateName } from "@nova/workflow";
import type { Keys } from "./keys.ts";
import type { EndpointOptions } from "./local-cloud.ts";
import {
  findPython,
  installRequirements,
  packagesFolder,
  packagesFolders,
  promisedModules,
  pythonVariable,
} from "./python-packages.ts";

/**
 * Prepares the sandbox template of a workflow and returns its name. A workflow without requirements gets the template
 * that `nova template build` made. Workflows with the same requirements share a template.
 */
export async function prepareTemplate(dataDir: string, requirements: readonly string[]): Promise<string> {
  if (requirements.length === 0) return process.env.E2B_TEMPLATE_ID ?? "nova";
  const template = templateName(requirements);
  const own = templateFolder(dataDir, template);
  const index = join(docstringsFolder(dataDir), `${template}.json`);
  if (existsSync(own) && existsSync(index)) return template;
  const python = await findPython(packagesFolders());
  await installRequirements(python, requirements, own);
  await indexDocstrings(python, requirements, [own, packagesFolder(python.version)], index);
  return template;
}

/** Returns the folder in which the packages of a template are installed. */
function templateFolder(dataDir: string, template: string): string {
  return join(dataDir, "templates", template);
}

/** Returns the folder of the docstring indexes of templates: `<template>.json`. */
export function docstringsFolder(dataDir: string): string {
  return join(dataDir, "docstrings");
}

/**
 * Indexes the docstrings of a template's packages, as `nova template build` does in E2B. Returns false if Python fails.
 * No node needs the index: it only helps models that write code.
 */
export async function indexDocstrings(
  python: Python,
  requirements: readonly string[],
  sites: readonly string[],
  file: string,
): Promise<boolean> {
  const options = {
    env: { ...process.env, PYTHONPATH: sites.join(delimiter) },
    maxBuffer: 64 * 1024 * 1024,
    timeout: 120_000,
  };
  try {
    const { stdout } = await promisify(execFile)(python.path, [docstringsScript, ...requirements], options);
    await mkdir(dirname(file), { recursive: true });
    writeWhole(file, stdout);
    return true;
  } catch {
    return false;
  }
}

/** The harness is preloaded as in the template, so the first node does not wait for it. */
const preloaded = { folder: pythonFolder, module: "nova_harness.daemon" };

/**
 * Opens E2B before the other services, because Python starts while this process loads everything else. With `drives:
 * false` no Python starts.
 */
export function openSandboxes(
  { dataDir, limits, warn, disk, drives = true }: EndpointOptions,
  { e2bApiKey }: Keys,
): Promise<E2bServer> {
  if (drives) import("@nova/sandbox").then(({ preloadSdk }) => preloadSdk());
  return openE2b({
    apiKey: e2bApiKey,
    modules: promisedModules,
    pythonVariable,
    disk,
    waits: !drives,
    sitePackages: packagesFolders(),
    preloaded,
    cacheFile: pythonCache(dataDir),
    // Returns both folders, because sandboxes also see packages that are installed into the second one while the server
    // is open.
    templates: (template, { version }) => [templateFolder(dataDir, template), packagesFolder(version)],
    ...(limits && { limits }),
    ...(warn && { warn }),
  });
}

/** Replaces E2B in a read-only folder, where nothing runs: reading needs no Python. */
export const noSandboxes: E2bServer = {
  // An address without a server: no process listens at the port "discard".
  apiUrl: "http://127.0.0.1:9",
  sandboxUrl: "http://127.0.0.1:9",
  isolated: true,
  ready: async () => undefined,
  wantPackages: () => undefined,
  warmed: async () => undefined,
  sandboxes: () => [],
  execute: () => Promise.reject(new TypeError("this process has no sandboxes")),
  callControlPlane: () => Promise.reject(new TypeError("this process has no sandboxes")),
  kill: async () => undefined,
  close: async () => undefined,
};

/** Finds the Python of this data folder's sandboxes, and does not start it. Throws `E2bServerError`. */
export function sandboxPython(dataDir: string): Promise<Python> {
  const sites = [...packagesFolders(), preloaded.folder];
  const cacheFile = existsSync(dataDir) ? pythonCache(dataDir) : undefined;
  return findPython(sites, { cacheFile, compiled: [preloaded.folder] });
}

function pythonCache(dataDir: string): string {
  return join(dataDir, "python.json");
}
