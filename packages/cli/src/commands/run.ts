import type { NovaClient } from "@nova/client";
import type { LocalCloud } from "@nova/local";
import { defined } from "@nova/workflow/defined";
import { askCloud, clientOf, ownerGone, serverHere } from "../api/ask.ts";
import { closeCloud, openCloud, othersRuns } from "../cloud.ts";
import { exitCodes } from "../errors.ts";
import { Interrupt } from "../interrupt.ts";
import { findingLines } from "../output/findings.ts";
import { printError } from "../output/terminal.ts";
import { type RunPlace, runInPlace, tellingRefusals } from "../run/in-place.ts";
import { checkDraft, type RunRequest, readDraft, readInputs } from "../run/request.ts";
import { command } from "./command.ts";
import { readVersion } from "./versions.ts";

/** What a run begins with, and for whom. */
const inputs = {
  "--context <file.json>": "initial context, a JSON object",
  "--set <key=json>": { says: "one value of the initial context (repeatable)", each: true },
  "--file <key=path>": { says: "bytes of a file under a key (repeatable)", each: true },
  "--client <slug>":
    "for whom it runs: variables and credentials are that client's, on a server pinned versions and quotas too",
  "--frozen": "no model writes code: prompt nodes run locked code, or fail",
  "--reuse <execution>":
    "take over what its nodes came to, where they are defined as they were and find the same values",
} as const;

export const run = command({
  summary: "run a workflow and wait for its end",
  takes: {
    "<folder|file>": "folder with workflow.json or workflow.ts, or one such file",
    ...inputs,
    "--node <id>": "run this one node on the given context",
    "--fresh [node]": { says: "a model writes this prompt node's code anew, or all (repeatable)", each: true },
    "--local": "on this machine, also where NOVA_URL names a server: nothing is published there",
  },
  async run([path = ""], { json = false, local, ...options }) {
    const interrupt = new Interrupt();
    return tellingRefusals(json, async () => {
      const draft = await readDraft(path, options);
      const server = local ? undefined : await serverHere();
      if (server) {
        const request = await checkDraft(draft);
        const { publishAndStart } = await import("../run/on-server.ts");
        tellWarnings(request);
        return runInPlace(() => publishAndStart(server, request, interrupt), { server, interrupt, json });
      }
      // Its sandboxes have the packages that are there when it opens.
      const { offerPackages } = await import("../packages/offer.ts");
      const { nobody } = await import("../output/asking.ts");
      const lacking = await offerPackages([draft.parsed, ...draft.called.parsed], json ? nobody : undefined);
      // The cloud opens while the Python of the nodes is checked.
      const checking = checkDraft(draft, lacking);
      checking.catch(() => undefined);
      return inCloud(interrupt, async (cloud, lost) => {
        const request = await checking;
        const { startHere } = await import("../run/here.ts");
        tellWarnings(request);
        const start = () => startHere(cloud, request, interrupt);
        // The REST API is loaded while the run is on its way.
        return runInPlace(start, { server: () => clientOf(cloud), live: cloud, lost, isQuiet: true, interrupt, json });
      });
    });
  },
});

/** Other terminals may use the cloud that this one opened: it is closed behind them. `lost` rejects without its owner. */
async function inCloud<T>(
  interrupt: Interrupt,
  work: (cloud: LocalCloud, lost: Promise<never>) => Promise<T>,
): Promise<T> {
  const cloud = await openCloud();
  const lost = cloud.lost.then(ownerGone);
  lost.catch(() => undefined); // whoever works may not look at it yet
  try {
    return await work(cloud, lost);
  } finally {
    await closeCloud(cloud, interrupt, othersRuns);
  }
}

function tellWarnings({ warnings }: RunRequest): void {
  if (warnings.length > 0) printError(findingLines(warnings).join("\n"));
}

export const start = command({
  summary: "run a published workflow and wait for its end",
  takes: {
    "<workflow>": "its id",
    ...inputs,
    "--of <version>": "absent: the active one, or the one that is pinned for the client",
    "--fresh <node>": { says: "a model writes this prompt node's code anew (repeatable)", each: true },
    "--no-wait": "print the id of the run and leave it",
  },
  async run([workflow = ""], { json = false, wait, of, fresh, frozen = false, client, reuse, ...files }) {
    const interrupt = new Interrupt();
    return tellingRefusals(json, async () => {
      const version = of === undefined ? undefined : readVersion(of);
      const request = { workflow, fresh, frozen, ...(await readInputs(files)), ...defined({ client, reuse, version }) };
      return onServerOrHere(interrupt, async ({ server, ...place }) => {
        const { startPublished } = await import("../run/on-server.ts");
        const start = () => startPublished(server, request, interrupt);
        if (wait) return runInPlace(start, { server, ...place, interrupt, json });
        const started = await start();
        if (!started) return exitCodes.interrupted;
        const { execution_id, status } = started;
        return { json: { execution_id, workflow, status }, text: execution_id };
      });
    });
  },
});

/** Asks the server that `NOVA_URL` names, or else the API of this machine's cloud, which stays open meanwhile. */
export async function onServerOrHere<T>(
  interrupt: Interrupt,
  work: (place: RunPlace & { server: NovaClient }) => Promise<T>,
): Promise<T> {
  const server = await serverHere();
  if (server) return work({ server });
  return inCloud(interrupt, (cloud, lost) => askCloud(cloud, (api) => work({ server: api, live: cloud, lost })));
}
