import type { NovaClient } from "@nova/client";
import type { Workflow } from "@nova/workflow";
import { askCloud, connectServer } from "../api/ask.ts";
import { readBlob } from "../api/recorded.ts";
import { withCloud } from "../cloud.ts";
import { Interrupt } from "../interrupt.ts";
import type { Trial } from "./trial.ts";

export type TrialFor = (workflow: Workflow) => Promise<Trial>;

/**
 * Runs `work` with recorded data of this machine or of the server in `NOVA_URL`, and with sandboxes of this machine.
 */
export async function withTrials<T>(work: (nova: NovaClient, trialFor: TrialFor) => Promise<T>): Promise<T> {
  const server = await connectServer();
  return withCloud((cloud) => {
    const run = (nova: NovaClient) => {
      const interrupt = new AbortController();
      new Interrupt().requested().then(
        () => interrupt.abort(),
        () => undefined,
      );
      return work(nova, async (workflow) => ({
        blobOf: (execution, sha256) => readBlob(nova, execution, sha256),
        sandboxes: cloud.ports.sandboxes,
        template: await cloud.templateFor(workflow),
        signal: interrupt.signal,
      }));
    };
    return server ? run(server) : askCloud(cloud, run);
  });
}
