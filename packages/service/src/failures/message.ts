import type { Execution, Links } from "@nova/engine";
import { noticeOf } from "../notices/notice.ts";
import type { Notice } from "../ports/notices.ts";

/** What is told of a failed run: nothing of its context, since mails and others' servers keep what they get. */
export interface Failure {
  type: "execution.failed";
  execution_id: string;
  workflow: string;
  version: number;
  client: string;
  status: string;
  started_at: string;
  ended_at: string | null;
  error: { node: string; class: string; message: string } | null;
}

export function failureOf(record: Execution): Failure {
  return {
    type: "execution.failed",
    execution_id: record.id,
    workflow: record.workflowId,
    version: record.version,
    client: record.client,
    status: record.status,
    started_at: record.startedAt,
    ended_at: record.endedAt ?? null,
    error: record.error ?? null,
  };
}

export function failureNotice(failure: Failure, to: string[], links: Pick<Links, "toApi">): Notice {
  const { execution_id, workflow, version, client, status, started_at, error } = failure;
  const address = links.toApi(`/executions/${execution_id}`);
  const lines = [
    `Workflow ${workflow} (version ${version}) ${status === "failed" ? "has failed" : `was ${status}`}.`,
    "",
    `client     ${client}`,
    `execution  ${execution_id}`,
    `began      ${started_at}`,
    ...(error ? [`node       ${error.node}`, `error      ${error.class}: ${error.message}`] : []),
    "",
    `nova trace ${execution_id} shows every step.`,
    ...(address ? [`GET ${address} says the same to whoever has an API key.`] : []),
  ];
  return noticeOf(to, `NOVA: ${workflow} ${status} (${client})`, lines);
}
