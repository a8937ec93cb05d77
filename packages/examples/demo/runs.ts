import { createHash } from "node:crypto";
import { compileWorkflow } from "@nova/compiler";
import { type FileInput, publishWorkflow, readTrace, startExecution, type WorkflowVersion } from "@nova/engine";
import type { LocalCloud } from "@nova/local";
import { readWorkflowSource } from "@nova/workflow";
import type { InvoiceMail } from "./mails.ts";

/**
 * Publishes the workflow of an example's folder. `adapt` changes its definition, such as the local hosts that its nodes
 * may reach.
 */
export async function publishExample(
  cloud: LocalCloud,
  folder: string,
  adapt: (definition: string) => string = (definition) => definition,
): Promise<WorkflowVersion> {
  const source = await readWorkflowSource(folder);
  const compiled = await compileWorkflow({ ...source, text: adapt(source.text) });
  if (!compiled.workflow)
    throw new TypeError(`the workflow in ${folder} has findings: ${JSON.stringify(compiled.findings)}`);
  const { workflow, definition, history } = compiled;
  return publishWorkflow(cloud.ports, {
    workflow,
    stateMachine: definition,
    history,
    template: await cloud.templateFor(workflow),
  });
}

/** Passes bytes under a key of the initial context, like `nova run --file`. */
export function fileInput(key: string, bytes: Buffer): FileInput {
  return {
    key,
    sha256: createHash("sha256").update(bytes).digest("hex"),
    bytes: bytes.length,
    async *open() {
      yield bytes;
    },
  };
}

/** The outcome of one mail. `amount` is null if no total was found; `error` then has the reason. */
export interface MailResult {
  file: string;
  amount: number | null;
  currency: string | null;
  branch: "high" | "low" | "rejected" | null;
  status: string;
  duration_ms: number;
  execution_id: string;
  /** The error of a failed run; null otherwise. */
  error: string | null;
}

export interface MailRun {
  result: MailResult;
}

/** Starts the workflow with the mail's bytes, like `nova run --file`; returns the id of the run. */
export async function startMail(
  cloud: LocalCloud,
  version: WorkflowVersion,
  mail: InvoiceMail,
  smtpPort: number,
): Promise<string> {
  const { id } = await startExecution(cloud.ports, {
    version,
    context: JSON.stringify({ smtp_host: "127.0.0.1", smtp_port: smtpPort }),
    files: [fileInput("mail", mail.eml)],
    // The demo has no key for models: generated code is pinned.
    frozen: true,
  });
  return id;
}

/** Waits for the end of the run that a mail started. */
export async function followMail(cloud: LocalCloud, { file }: InvoiceMail, id: string): Promise<MailRun> {
  await cloud.untilEnd(id);
  const { execution, context } = await readTrace(cloud.ports, id);
  const {
    record,
    total_amount: amount,
    currency,
  } = JSON.parse(context.text) as {
    record?: { amount: number | null; currency: string | null; branch: MailResult["branch"] };
    total_amount?: number;
    currency?: string;
  };
  return {
    result: {
      file,
      amount: amount ?? null,
      currency: currency ?? null,
      branch: record?.branch ?? null,
      status: execution.status,
      duration_ms: execution.durationMs ?? 0,
      execution_id: id,
      error: execution.error?.message ?? null,
    },
  };
}
