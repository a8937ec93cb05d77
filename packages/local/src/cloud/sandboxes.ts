import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type E2bServer, openE2b } from "../e2b/open.ts";
import type { RoomyOptions } from "./cloud-options.ts";
import type { Keys } from "./keys.ts";
import { sitePackages } from "./python-packages.ts";
import { templateFolder } from "./templates.ts";

/** As in the template, no first node waits for the harness; the package itself is loaded later, beside this. */
const harnessHome = fileURLToPath(new URL("../python", import.meta.resolve("@nova/sandbox")));

/** Opens E2B. It comes before everything else: while its Python starts, this process loads the rest. */
export function openSandboxes({ dataDir, limits, warn, room }: RoomyOptions, { e2bApiKey }: Keys): Promise<E2bServer> {
  const opening = openE2b({
    apiKey: e2bApiKey,
    room,
    sitePackages: [sitePackages(dataDir)],
    preloaded: { folder: harnessHome, module: "nova_harness.daemon" },
    cacheFile: join(dataDir, "python.json"),
    templates: (template) => [templateFolder(dataDir, template)],
    ...(limits && { limits }),
    ...(warn && { warn }),
  });
  // Whoever awaits it hears of a failure; until then it must not count as unheard of.
  opening.catch(() => undefined);
  return opening;
}

/** Where nothing can be written, nothing runs: who only reads needs no Python, and the disk may have no place for one. */
export const noSandboxes: E2bServer = {
  // Nobody listens at the port "discard".
  ...{ apiUrl: "http://127.0.0.1:9", sandboxUrl: "http://127.0.0.1:9" },
  python: { path: "", version: "", missing: [] },
  isolated: true,
  warmed: async () => undefined,
  sandboxes: () => [],
  kill: async () => undefined,
  close: async () => undefined,
};
