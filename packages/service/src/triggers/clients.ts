import { type Finding, finding, type Workflow } from "@nova/workflow";
import { reaches } from "../access/principal.ts";
import type { Principal } from "../ports/access.ts";
import { defaultClient } from "../ports/clients.ts";
import type { ServicePorts } from "../ports/index.ts";

/** A warning for each trigger whose client is not there, not for long any more, or out of reach: in the same words. */
export async function clientFindings(
  { clients }: Pick<ServicePorts, "clients">,
  by: Principal | null,
  { triggers = [] }: Pick<Workflow, "triggers">,
): Promise<Finding[]> {
  const findings = await Promise.all(
    triggers.map(async ({ client = defaultClient }, index) => {
      if (client === defaultClient) return [];
      const there = by === null || reaches(by, client) ? await clients.get(client) : undefined;
      if (there && !there.erasing) return [];
      const message = `there is no client "${client}", so nothing will start for it - make the client, or correct the slug`;
      return [finding("NOVA128", `$.triggers[${index}].client`, message)];
    }),
  );
  return findings.flat();
}
