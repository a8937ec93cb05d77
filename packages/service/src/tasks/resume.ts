import { createHash, timingSafeEqual } from "node:crypto";
import { callLink, executionOf, executionOfToken, type ResumeLink } from "@nova/engine";
import { NotFound } from "../errors.ts";
import type { ServicePorts } from "../ports/index.ts";

/** Nothing has this hash. */
const noHash = "0".repeat(64);

/**
 * The link that an id and its token name, for whoever has them. Throws `NotFound`, in the same words whatever is wrong;
 * `TooMany`.
 */
export async function resumeLink(ports: ServicePorts, id: string, token: string): Promise<ResumeLink> {
  await ports.rates?.take({ id: `link ${id}`, client: null });
  const execution = executionOfToken(token);
  const link = execution === undefined ? undefined : await ports.resumeLinks.get({ execution, id });
  const given = createHash("sha256").update(token).digest();
  const isRight = timingSafeEqual(given, Buffer.from(link?.tokenHash ?? noHash, "hex"));
  if (link && isRight) return link;
  throw new NotFound(`there is no task "${id}" for this token - call the link as it was handed out, whole`);
}

/**
 * The one call of a link, with JSON text for the wait. True: the wait has it; false: it is kept until the wait begins.
 * Throws `AnswerRefused` for a second call, `WaitOver`.
 */
export async function resume(ports: ServicePorts, link: ResumeLink, text: string): Promise<boolean> {
  return callLink(ports, link, await executionOf(ports, link.execution), text);
}
