import { type Finding, finding, type Workflow } from "@nova/workflow";
import { defaultClient } from "../clients/default-client.ts";
import type { ServicePorts } from "../ports/index.ts";

/** A warning for each trigger whose client is not there, or not for long any more. */
export async function clientFindings(
  { clients }: Pick<ServicePorts, "clients">,
  { triggers = [] }: Pick<Workflow, "triggers">,
): Promise<Finding[]> {
  const findings = await Promise.all(
    triggers.map(async ({ client = defaultClient }, index) => {
      if (client === defaultClient) return [];
      const there = await clients.get(client);
      if (there && !there.erasing) return [];
      const message = `there is no client "${client}", so nothing will start for it - make the client, or correct the slug`;
      return [finding("NOVA128", `$.triggers[${index}].client`, message)];
    }),
  );
  return findings.flat();
}
