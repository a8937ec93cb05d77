import { existsSync } from "node:fs";
import { join } from "node:path";
import { type E2bServer, openE2b, type Python } from "@nova/e2b-local";
import { pythonFolder } from "@nova/sandbox/files";
import type { Keys } from "./keys.ts";
import type { RoomyOptions } from "./local-cloud.ts";
import { findPython, packagesFolder, packagesFolders, promisedModules, pythonVariable } from "./python-packages.ts";
import { templateFolder } from "./templates.ts";

/** As in the template, no first node waits for the harness; the package itself is loaded later, beside this. */
const preloaded = {
  folder: pythonFolder,
  module: "nova_harness.daemon",
};

/**
 * Opens E2B. It comes before everything else: while its Python starts, this process loads the rest. For who only wants to
 * know something no Python starts.
 */
export function openSandboxes(
  { dataDir, limits, warn, room, drives = true }: RoomyOptions,
  { e2bApiKey }: Keys,
): Promise<E2bServer> {
  return openE2b({
    apiKey: e2bApiKey,
    modules: promisedModules,
    pythonVariable,
    disk: room,
    waits: !drives,
    sitePackages: packagesFolders(),
    preloaded,
    cacheFile: pythonCache(dataDir),
    // Packages that are installed while this is open are there for the sandboxes that come then.
    templates: (template, { version }) => [templateFolder(dataDir, template), packagesFolder(version)],
    ...(limits && { limits }),
    ...(warn && { warn }),
  });
}

/** Where nothing can be written, nothing runs: who only reads needs no Python, and the disk may have no place for one. */
export const noSandboxes: E2bServer = {
  // Nobody listens at the port "discard".
  ...{ apiUrl: "http://127.0.0.1:9", sandboxUrl: "http://127.0.0.1:9" },
  isolated: true,
  ready: async () => undefined,
  wantPackages: () => undefined,
  warmed: async () => undefined,
  sandboxes: () => [],
  kill: async () => undefined,
  close: async () => undefined,
};

/** The Python that sandboxes of this data folder run, without opening any. Throws `E2bServerError`. */
export function sandboxPython(dataDir: string): Promise<Python> {
  const sites = [...packagesFolders(), preloaded.folder];
  const cacheFile = existsSync(dataDir) ? pythonCache(dataDir) : undefined;
  return findPython(sites, { cacheFile, compiled: [preloaded.folder] });
}

function pythonCache(dataDir: string): string {
  return join(dataDir, "python.json");
}
