import { resume, resumeLink, type ServicePorts } from "@nova/service";
import type { Received } from "../http/event.ts";
import { readBody } from "../http/read-body.ts";
import type { Answer } from "../http/route.ts";

/**
 * A call of a resume link: the token is the key, and is looked at before anything that came with it. `sent`: the wait has
 * it; else it is kept until the wait begins.
 */
export async function callResumeLink(ports: ServicePorts, received: Received, token: string): Promise<Answer> {
  const link = await resumeLink(ports, received.params.id ?? "", token);
  const text = received.text.trim() === "" ? "null" : received.text;
  readBody({ ...received, text }, []);
  const isTaken = await resume(ports, link, text);
  const at = link.calledAt ?? new Date(ports.clock.now()).toISOString();
  const named = { task_id: link.id, execution_id: link.execution, node: link.node };
  return { status: 200, body: { ...named, choice: "resumed", at, sent: isTaken } };
}
