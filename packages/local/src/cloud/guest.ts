import type { Visit } from "./admin-client.ts";
import { enterEnvironment, environmentOf } from "./environment.ts";
import type { Keys } from "./keys.ts";
import type { LocalCloud } from "./local-cloud.ts";
import type { Owner } from "./owner-file.ts";
import { servicePorts } from "./service.ts";
import { prepareTemplate } from "./templates.ts";

/** Uses the endpoints that another process has opened. */
export async function openAsGuest(dataDir: string, keys: Keys, owner: Owner, visit: Visit): Promise<LocalCloud> {
  const environment = environmentOf(dataDir, owner.endpoints, keys);
  enterEnvironment(environment);
  process.env.POWERTOOLS_LOG_LEVEL ??= "SILENT";
  const service = await servicePorts(dataDir, environment);
  return {
    role: "guest",
    dataDir,
    environment,
    ports: service,
    service,
    lost: visit.ownerLost,
    ending: visit.ownerEnding,
    templateFor: (requirements) => prepareTemplate(dataDir, requirements),
    // The owner's sandboxes have had time for it.
    warmed: async () => undefined,
    counters: visit.counters,
    untilEnd: visit.untilEnd,
    close: async () => visit.leave(),
  };
}
