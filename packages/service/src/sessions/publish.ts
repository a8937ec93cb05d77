import { slugOf } from "@nova/workflow";
import { demandAllClients } from "../access/authenticate.ts";
import { recordDeed } from "../audit/audit.ts";
import { Refused } from "../errors.ts";
import type { Principal } from "../ports/access.ts";
import type { ServicePorts } from "../ports/index.ts";
import type { Session } from "../ports/sessions.ts";
import { type Published, publish } from "../publishing/publish.ts";
import { isDraftId } from "../workflows/draft-id.ts";
import { buildDraftGraph } from "./draft-graph.ts";
import { sourceOfWhole } from "./part.ts";
import { changeSession } from "./record.ts";

/**
 * Publishes the draft as the next version of a workflow: of `workflow`, of the one that the session was made from, or
 * of a new one with this name. Throws `Refused` with the findings, `Forbidden` for a key of one client, `NotFound`.
 */
export async function publishSession(
  ports: ServicePorts,
  by: Principal,
  id: string,
  { workflow, name }: { workflow?: string; name?: string },
): Promise<Published & { session: Session }> {
  demandAllClients(by);
  const { session, answer } = await changeSession(ports, by, id, async (session) => {
    const { state } = session;
    const named = name ?? session.name;
    const to = workflow ?? state.workflow ?? slugOf(named);
    if (isDraftId(to)) throw new Refused(`"${to}" is the id of a draft - publish it under another one`);
    await demandNoTriggers(ports, to);
    const source = sourceOfWhole(state.draft, buildDraftGraph(state.draft), { id: to, name: named });
    const published = await publish(ports, by, source);
    const what = `it was published as version ${published.version} of "${to}"`;
    return { state: { ...state, workflow: to }, what, answer: published };
  });
  const { version, id: as } = answer;
  await recordDeed(ports, by, {
    action: "session.published",
    client: session.client,
    subject: id,
    detail: { workflow: as, version },
  });
  return { ...answer, session };
}

/** Throws `Refused` if the workflow has triggers or failure recipients: a session does not hold them, so publishing would remove them. */
async function demandNoTriggers({ workflows }: Pick<ServicePorts, "workflows">, id: string): Promise<void> {
  const { workflow } = (await workflows.latest(id)) ?? {};
  const lost = [...(workflow?.triggers?.length ? ["triggers"] : []), ...(workflow?.onFailure ? ["on_failure"] : [])];
  if (lost.length === 0) return;
  throw new Refused(
    `workflow "${id}" has ${lost.join(" and ")}, which a session does not hold and a publication would take away - publish it under another id`,
  );
}
