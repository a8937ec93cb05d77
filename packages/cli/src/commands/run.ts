import type { NovaClient } from "@nova/client";
import type { LocalCloud } from "@nova/local";
import { defined } from "@nova/workflow/defined";
import { askCloud, ownerGone, serverHere } from "../api/ask.ts";
import { closeCloud, openCloud, othersRuns } from "../cloud.ts";
import { exitCodes } from "../errors.ts";
import { Interrupt } from "../interrupt.ts";
import { findingLines } from "../output/findings.ts";
import { printError } from "../output/terminal.ts";
import { runInPlace, tellingRefusals } from "../run/in-place.ts";
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
  "--frozen": "ask no model: prompt nodes run locked code, or fail",
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
        const { runOnServer } = await import("../remote/run.ts");
        tellWarnings(request);
        return runInPlace((listener) => runOnServer(server, request, interrupt, listener), { interrupt, json });
      }
      // Its sandboxes have the packages that are there when it opens.
      const { nobody, offerPackages } = await import("../packages/offer.ts");
      const lacking = await offerPackages([draft.parsed, ...draft.called.parsed], json ? nobody : undefined);
      // The cloud opens while the Python of the nodes is checked.
      const checking = checkDraft(draft, lacking);
      checking.catch(() => undefined);
      return inCloud(interrupt, async (cloud, lost) => {
        const request = await checking;
        const { execute } = await import("../run/execute.ts");
        tellWarnings(request);
        return runInPlace((listener) => execute(cloud, request, interrupt, listener), { interrupt, json, lost });
      });
    });
  },
});

/** Other terminals may use the cloud that this one opened: it is closed behind them. `lost` rejects without its owner. */
export async function inCloud<T>(
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
      const runThere = async (server: NovaClient, lost?: Promise<never>) => {
        const { followed, startOnServer } = await import("../remote/run.ts");
        if (wait) {
          return runInPlace(
            async (listener) => {
              const started = await startOnServer(server, request, interrupt);
              return started && followed(server, started, interrupt, listener);
            },
            { interrupt, json, lost },
          );
        }
        const started = await startOnServer(server, request, interrupt);
        if (!started) return exitCodes.interrupted;
        const { execution_id, status } = started;
        return { json: { execution_id, workflow, status }, text: execution_id };
      };
      const server = await serverHere();
      if (server) return runThere(server);
      return inCloud(interrupt, (cloud, lost) => askCloud(cloud, (api) => runThere(api, lost)));
    });
  },
});
