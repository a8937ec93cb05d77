import { existsSync } from "node:fs";
import { join } from "node:path";
import { type E2bServer, openE2b, type Python } from "@nova/e2b-local";
import { pythonFolder } from "@nova/sandbox/files";
import type { Keys } from "./keys.ts";
import type { EndpointOptions } from "./local-cloud.ts";
import { findPython, packagesFolder, packagesFolders, promisedModules, pythonVariable } from "./python-packages.ts";
import { templateFolder } from "./templates.ts";

/** The harness is preloaded as in the template, so the first node does not wait for it. */
const preloaded = {
  folder: pythonFolder,
  module: "nova_harness.daemon",
};

/** Opens E2B first: this process loads everything else while Python starts. With `drives: false` no Python starts. */
export function openSandboxes(
  { dataDir, limits, warn, disk, drives = true }: EndpointOptions,
  { e2bApiKey }: Keys,
): Promise<E2bServer> {
  return openE2b({
    apiKey: e2bApiKey,
    modules: promisedModules,
    pythonVariable,
    disk,
    waits: !drives,
    sitePackages: packagesFolders(),
    preloaded,
    cacheFile: pythonCache(dataDir),
    // Sandboxes also see packages that are installed while the server is open.
    templates: (template, { version }) => [templateFolder(dataDir, template), packagesFolder(version)],
    ...(limits && { limits }),
    ...(warn && { warn }),
  });
}

/** Replaces E2B in a read-only folder, where nothing runs: reading needs no Python. */
export const noSandboxes: E2bServer = {
  // No process listens at the port "discard".
  apiUrl: "http://127.0.0.1:9",
  sandboxUrl: "http://127.0.0.1:9",
  isolated: true,
  ready: async () => undefined,
  wantPackages: () => undefined,
  warmed: async () => undefined,
  sandboxes: () => [],
  kill: async () => undefined,
  close: async () => undefined,
};

/** The Python of this data folder's sandboxes; starts none. Throws `E2bServerError`. */
export function sandboxPython(dataDir: string): Promise<Python> {
  const sites = [...packagesFolders(), preloaded.folder];
  const cacheFile = existsSync(dataDir) ? pythonCache(dataDir) : undefined;
  return findPython(sites, { cacheFile, compiled: [preloaded.folder] });
}

function pythonCache(dataDir: string): string {
  return join(dataDir, "python.json");
}
