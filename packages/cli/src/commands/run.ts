import type { NovaClient } from "@nova/client";
import type { LocalCloud } from "@nova/local";
import { defined } from "@nova/workflow/defined";
import { askCloud, connectServer, openClient, throwOwnerGone } from "../api/ask.ts";
import { closeCloud, openCloud, othersRunsHint } from "../cloud.ts";
import { exitCodes } from "../errors.ts";
import { Interrupt } from "../interrupt.ts";
import { findingLines } from "../output/findings.ts";
import { printError } from "../output/terminal.ts";
import { type RunPlace, reportRefusals, runInPlace } from "../run/in-place.ts";
import { checkDraft, type RunRequest, readDraft, readInputs } from "../run/request.ts";
import { command } from "./command.ts";
import { readVersion } from "./versions.ts";

/** Options for the initial context of a run and its client. */
const inputs = {
  "--context <file.json>": "initial context, a JSON object",
  "--set <key=json>": { says: "one value of the initial context (repeatable)", each: true },
  "--file <key=path>": { says: "bytes of a file under a key (repeatable)", each: true },
  "--client <slug>":
    "run for this client: with its variables and credentials, on a server also its pinned versions and quotas",
  "--frozen": "no model writes code: prompt nodes run locked code, or fail",
  "--reuse <execution>": "reuse outcomes of this execution's nodes, if their definitions and inputs are the same",
} as const;

export const run = command({
  summary: "run a workflow and wait for its end",
  takes: {
    "<folder|file>": "folder with workflow.json or workflow.ts, or one such file",
    ...inputs,
    "--node <id>": "run only this node on the context",
    "--fresh [node]": {
      says: "have a model write the code of this prompt node, or of all, again (repeatable)",
      each: true,
    },
    "--local": "run on this machine, even if NOVA_URL names a server",
  },
  async run([path = ""], { json = false, local, ...options }) {
    const interrupt = new Interrupt();
    return reportRefusals(json, async () => {
      const draft = await readDraft(path, options);
      const server = local ? undefined : await connectServer();
      if (server) {
        const request = await checkDraft(draft);
        const { publishAndStart } = await import("../run/on-server.ts");
        tellWarnings(request);
        return runInPlace(() => publishAndStart(server, request, interrupt), { server, interrupt, json });
      }
      // The sandboxes get the packages that are installed when the cloud opens.
      const { offerPackages } = await import("../packages/offer.ts");
      const { noTerminal } = await import("../output/asking.ts");
      const lacking = await offerPackages([draft.parsed, ...draft.called.parsed], json ? noTerminal : undefined);
      // The cloud opens while the Python of the nodes is checked.
      const checking = checkDraft(draft, lacking);
      checking.catch(() => undefined);
      return inCloud(interrupt, async (cloud, lost) => {
        const request = await checking;
        const { startHere } = await import("../run/here.ts");
        tellWarnings(request);
        const start = () => startHere(cloud, request, interrupt);
        // The REST API loads while the run starts.
        return runInPlace(start, {
          server: () => openClient(cloud),
          live: cloud,
          lost,
          isQuiet: true,
          interrupt,
          json,
        });
      });
    });
  },
});

/**
 * Opens the cloud for `work`, and closes it when no terminal uses it. `lost` rejects if the process that owns the cloud
 * ends.
 */
async function inCloud<T>(
  interrupt: Interrupt,
  work: (cloud: LocalCloud, lost: Promise<never>) => Promise<T>,
): Promise<T> {
  const cloud = await openCloud();
  const lost = cloud.lost.then(throwOwnerGone);
  lost.catch(() => undefined); // `work` may not await it yet
  try {
    return await work(cloud, lost);
  } finally {
    await closeCloud(cloud, interrupt, othersRunsHint);
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
    "--of <version>": "absent: the active version, or the one pinned for the client",
    "--fresh <node>": { says: "have a model write the code of this prompt node again (repeatable)", each: true },
    "--no-wait": "print the id of the run and do not wait",
  },
  async run([workflow = ""], { json = false, wait, of, fresh, frozen = false, client, reuse, ...files }) {
    const interrupt = new Interrupt();
    return reportRefusals(json, async () => {
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

/** Runs `work` with the server in `NOVA_URL`, or else with this machine's cloud, which stays open meanwhile. */
export async function onServerOrHere<T>(
  interrupt: Interrupt,
  work: (place: RunPlace & { server: NovaClient }) => Promise<T>,
): Promise<T> {
  const server = await connectServer();
  if (server) return work({ server });
  return inCloud(interrupt, (cloud, lost) => askCloud(cloud, (api) => work({ server: api, live: cloud, lost })));
}
