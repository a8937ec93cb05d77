import type { NovaClient } from "@nova/client";
import { askCloud, ownerGone, serverHere } from "../api/ask.ts";
import { closeCloud, openCloud, othersRuns } from "../cloud.ts";
import { type ExitCode, exitCodes } from "../errors.ts";
import { Interrupt } from "../interrupt.ts";
import { print } from "../output/terminal.ts";
import type { StartRequest } from "../remote/run.ts";
import { runInPlace, tellingRefusals } from "../run/in-place.ts";
import { collect, declareInputs } from "../run/options.ts";
import { type RunOptions, readInputs } from "../run/request.ts";
import type { CliCommand } from "./command.ts";
import { readVersion } from "./versions.ts";

type Options = RunOptions & { of?: string; fresh: string[]; wait: boolean; json?: true };

export const start: CliCommand = {
  declare: (command) =>
    declareInputs(command.summary("run a published workflow and wait for its end").argument("<workflow>", "its id"))
      .option("--of <version>", "absent: the active one, or the one that is pinned for the client")
      .option("--fresh <node>", "a model writes this prompt node's code anew (repeatable)", collect, [])
      .option("--no-wait", "print the id of the run and leave it")
      .option("--json", "print one JSON object"),

  async run([workflow = ""], options): Promise<ExitCode> {
    const { json, wait, of: version, fresh, frozen = false, client, ...inputs } = options as unknown as Options;
    const interrupt = new Interrupt();
    return tellingRefusals(json === true, async () => {
      const request: StartRequest = {
        ...{ workflow, fresh, frozen, ...(await readInputs(inputs)) },
        ...(client !== undefined && { client }),
        ...(version !== undefined && { version: readVersion(version) }),
      };
      const work = { request, interrupt, json: json === true, waits: wait };
      const server = await serverHere();
      if (server) return runThere(server, () => new Promise(() => {}), work);
      const cloud = await openCloud();
      try {
        return await askCloud(cloud, (api) => runThere(api, () => cloud.lost.then(ownerGone), work));
      } finally {
        await closeCloud(cloud, interrupt, othersRuns);
      }
    });
  },
};

interface Work {
  request: StartRequest;
  interrupt: Interrupt;
  json: boolean;
  waits: boolean;
}

async function runThere(server: NovaClient, lost: () => Promise<never>, work: Work): Promise<ExitCode> {
  const { request, interrupt, json, waits } = work;
  const { followed, startOnServer } = await import("../remote/run.ts");
  if (!waits) {
    const started = await startOnServer(server, request, interrupt);
    if (!started) return exitCodes.interrupted;
    const { execution_id, status } = started;
    print(json ? JSON.stringify({ execution_id, workflow: request.workflow, status }) : execution_id, json);
    return exitCodes.completed;
  }
  return runInPlace(
    {
      lost: lost(),
      async execute(_, listener) {
        const started = await startOnServer(server, request, interrupt);
        return started && followed(server, started, interrupt, listener);
      },
    },
    interrupt,
    json,
  );
}
