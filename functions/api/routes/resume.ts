import { resume, resumeLink, type ServicePorts } from "@nova/service";
import type { Received } from "../http/event.ts";
import { readBody } from "../http/read-body.ts";
import type { Answer } from "../http/route.ts";

/** A call of a resume link: the token is the key, and is looked at before anything that came with it. */
export async function callResumeLink(ports: ServicePorts, received: Received, token: string): Promise<Answer> {
  const link = await resumeLink(ports, received.params.id ?? "", token);
  const text = received.text.trim() === "" ? "null" : received.text;
  readBody({ ...received, text }, []);
  const isTaken = await resume(ports, link, text);
  const body = { task_id: link.id, execution_id: link.execution, node: link.node, taken: isTaken };
  return { status: isTaken ? 200 : 202, body };
}
