import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { basename, join, relative } from "node:path";
import { styleText } from "node:util";
import { tableLines } from "@nova/cli";
import { compileWorkflow } from "@nova/compiler";
import { type FileInput, publishWorkflow, readState, startExecution, type WorkflowVersion } from "@nova/engine";
import type { LocalCloud } from "@nova/local";
import { readWorkflowSource } from "@nova/workflow";
import type { Booking } from "./database.ts";
import type { InvoiceMail } from "./mails.ts";

/** Publishes an example. `adapt` changes its definition first, such as the local hosts that its nodes may reach. */
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

/** Returns the input that puts bytes under a key of the initial context, like `nova run --file`. */
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

/** The outcome of one mail. If no total was found, `amount` is null and `error` has the reason. */
export interface MailResult {
  file: string;
  amount: number | null;
  currency: string | null;
  branch: "high" | "low" | "rejected" | null;
  status: string;
  duration_ms: number;
  execution_id: string;
  error: string | null;
}

/** Starts the workflow with the bytes of a mail, like `nova run --file`. Returns the id of the run. */
export async function startMail(cloud: LocalCloud, version: WorkflowVersion, mail: InvoiceMail, smtpPort: number) {
  const { id } = await startExecution(cloud.ports, {
    version,
    context: JSON.stringify({ smtp_host: "127.0.0.1", smtp_port: smtpPort }),
    files: [fileInput("mail", mail.eml)],
    // The demo has no key for models, so prompt nodes run only their pinned code.
    frozen: true,
  });
  return id;
}

export async function followMail(cloud: LocalCloud, { file }: InvoiceMail, id: string): Promise<MailResult> {
  await cloud.untilEnd(id);
  const { execution, context } = await readState(cloud.ports, id);
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
    file,
    amount: amount ?? null,
    currency: currency ?? null,
    branch: record?.branch ?? null,
    status: execution.status,
    duration_ms: execution.durationMs ?? 0,
    execution_id: id,
    error: execution.error?.message ?? null,
  };
}

const columns = ["file", "amount", "currency", "expected", "branch", "time"];

/** Compares the results of the mails with the totals that people read, and lists the errors of failed runs. */
export async function tableOf(runs: MailResult[], invoices: string): Promise<string> {
  const rows = await Promise.all(runs.map((run) => rowOf(run, invoices)));
  const failures = runs.flatMap(({ file, error }) => (error === null ? [] : [styleText("red", `${file}: ${error}`)]));
  return [...tableLines(columns, rows), "", ...failures].join("\n");
}

async function rowOf(result: MailResult, invoices: string): Promise<string[]> {
  const expected = await expectedTotal(result.file, invoices);
  const right =
    expected === null
      ? ""
      : expected === result.amount
        ? styleText("green", `${expected} ✓`)
        : styleText("red", `${expected} ✗`);
  const amount = result.amount === null ? "-" : result.amount.toFixed(2);
  return [
    result.file,
    amount,
    result.currency ?? "-",
    right,
    result.branch ?? result.status,
    `${result.duration_ms} ms`,
  ];
}

async function expectedTotal(file: string, invoices: string): Promise<number | null> {
  const path = join(invoices, `${basename(file, ".pdf")}.expected.json`);
  try {
    const [first] = JSON.parse(await readFile(path, "utf8")) as { amount: number }[];
    return first?.amount ?? null;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return null;
    throw error;
  }
}

export function bookingsTable(bookings: readonly Booking[]): string {
  const rows = bookings.map(({ file, amount, currency, branch, sender }) => [
    ...[file ?? "-", amount ?? "-", currency ?? "-", branch, sender],
  ]);
  const title = `${rows.length} rows of the table invoices, read back from PostgreSQL:`;
  return [title, "", ...tableLines(["file", "amount", "currency", "branch", "sender"], rows), ""].join("\n");
}

/** Lists the files of the demo and the commands that show a run. */
export function listFiles(dataDir: string, notices: number, execution: string | undefined): string[] {
  const here = (folder: string) => {
    const path = join(dataDir, "demo", folder);
    return relative(process.cwd(), path) || path;
  };
  return [
    `${notices} notices lie in ${here("notices")}; the mails that came in are in ${here("mails")}`,
    ...(execution === undefined
      ? []
      : [`Every step is on record: npx nova trace ${execution} [--full], npx nova verify ${execution}`]),
  ];
}
