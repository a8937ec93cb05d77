import { membersOf } from "@nova/engine";
import type { WorkflowSource } from "@nova/workflow";

/**
 * What was sent to be published: the definition itself, or `{definition, files}` where it names files. The text is
 * handed on as it was written, so that findings can name lines.
 */
export function sourceOf(body: string, folder?: string): WorkflowSource {
  const members = new Map(membersOf(body).map(({ key, json }) => [key, json]));
  const definition = members.get("definition");
  const isEnvelope = definition?.startsWith("{") === true && !members.has("nodes");
  return {
    text: isEnvelope ? definition : body,
    fileName: "workflow.json",
    files: isEnvelope ? (JSON.parse(members.get("files") ?? "{}") as Record<string, string>) : {},
    ...(folder !== undefined && { folder }),
    isSent: true,
  };
}
