import type { NovaClient } from "@nova/client";
import type { LocalCloud } from "@nova/local";
import { ownerGone, serverHere } from "../api/ask.ts";
import { closeCloud, openCloud, othersRuns } from "../cloud.ts";
import type { ExitCode } from "../errors.ts";
import { Interrupt } from "../interrupt.ts";
import { findingLines } from "../output/findings.ts";
import { printError } from "../output/terminal.ts";
import type { Ran, RunListener } from "../run/execute.ts";
import { type RunPlace, runInPlace, tellingRefusals } from "../run/in-place.ts";
import { declareInputs } from "../run/options.ts";
import { checkDraft, type FreshOption, type RunOptions, type RunRequest, readDraft } from "../run/request.ts";
import type { CliCommand } from "./command.ts";

type Options = RunOptions & { json?: true; local?: true };

export const run: CliCommand = {
  declare: (command) =>
    declareInputs(
      command
        .summary("run a workflow and wait for its end")
        .argument("<folder|file>", "folder with workflow.json or workflow.ts, or one such file"),
    )
      .option("--node <id>", "run this one node on the given context")
      .option("--fresh [node]", "a model writes this prompt node's code anew, or all (repeatable)", collectFresh)
      .option("--local", "on this machine, also where NOVA_URL names a server: nothing is published there")
      .option("--json", "print one JSON object"),

  async run([path = ""], options) {
    const { json, local, ...rest } = options as unknown as Options;
    const interrupt = new Interrupt();
    return tellingRefusals(json === true, async () => {
      const draft = await readDraft(path, rest);
      const server = local ? undefined : await serverHere();
      if (server) return runRequest(await onServer(server), await checkDraft(draft), interrupt, json === true);
      // Its sandboxes have the packages that are there when it opens.
      const { nobody, offerPackages } = await import("../packages/offer.ts");
      const lacking = await offerPackages([draft.parsed, ...draft.called.parsed], json ? nobody : undefined);
      // The cloud opens while the Python of the nodes is checked.
      const opening = openCloud();
      const [request, cloud] = await Promise.allSettled([checkDraft(draft, lacking), opening]);
      if (cloud.status === "rejected") throw cloud.reason;
      try {
        if (request.status === "rejected") throw request.reason;
        return await runRequest(await inCloud(cloud.value), request.value, interrupt, json === true);
      } finally {
        // Other terminals may use the cloud that this one opened.
        await closeCloud(cloud.value, interrupt, othersRuns);
      }
    });
  },
};

/** Where requests run. */
interface RequestPlace extends Pick<RunPlace, "lost"> {
  execute(request: RunRequest, interrupt: Interrupt, listener: RunListener): Promise<Ran | null>;
}

async function inCloud(cloud: LocalCloud): Promise<RequestPlace> {
  const { execute } = await import("../run/execute.ts");
  return { execute: (...asked) => execute(cloud, ...asked), lost: cloud.lost.then(ownerGone) };
}

async function onServer(server: NovaClient): Promise<RequestPlace> {
  const { runOnServer } = await import("../remote/run.ts");
  return { execute: (...asked) => runOnServer(server, ...asked), lost: new Promise(() => {}) };
}

function runRequest(place: RequestPlace, request: RunRequest, interrupt: Interrupt, json: boolean): Promise<ExitCode> {
  if (request.warnings.length > 0) printError(findingLines(request.warnings).join("\n"));
  const execute: RunPlace["execute"] = (...rest) => place.execute(request, ...rest);
  return runInPlace({ ...place, execute }, interrupt, json);
}

/** `true` stands for every prompt node. */
function collectFresh(value: string | undefined, previous: FreshOption = []): FreshOption {
  return value === undefined || previous === true ? true : [...previous, value];
}
