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

/**
 * Publishes an example. `adapt` changes the definition before that, such as the local hosts that its nodes may reach.
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
  const { workflow, definition: stateMachine, history } = compiled;
  const template = await cloud.templateFor(workflow);
  return publishWorkflow(cloud.ports, { workflow, stateMachine, history, template });
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
  type Last = { record?: Pick<MailResult, "branch">; total_amount?: number; currency?: string | null };
  const { record, total_amount: amount = null, currency = null } = JSON.parse(context.text) as Last;
  return {
    file,
    amount,
    currency,
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
  const { file, amount, currency, branch, status, duration_ms } = result;
  const expected = await expectedTotal(file, invoices);
  const [color, mark] = expected === amount ? (["green", "✓"] as const) : (["red", "✗"] as const);
  const right = expected === null ? "" : styleText(color, `${expected} ${mark}`);
  return [file, amount?.toFixed(2) ?? "-", currency ?? "-", right, branch ?? status, `${duration_ms} ms`];
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
  const rowOf = ({ file, amount, currency, branch, sender }: Booking) => [file, amount, currency, branch, sender];
  const rows = bookings.map(rowOf).map((row) => row.map((value) => value ?? "-"));
  const title = `${rows.length} rows of the table invoices, read back from PostgreSQL:`;
  return [title, "", ...tableLines(["file", "amount", "currency", "branch", "sender"], rows), ""].join("\n");
}

/** Lists the files of the demo and the commands that show a run. */
export function listFiles(dataDir: string, notices: number, execution: string | undefined): string[] {
  const here = (folder: string) => {
    const path = join(dataDir, "demo", folder);
    return relative(process.cwd(), path) || path;
  };
  const places = `${notices} notices lie in ${here("notices")}; the mails that came in are in ${here("mails")}`;
  if (execution === undefined) return [places];
  return [places, `Every step is on record: npx nova trace ${execution} [--full], npx nova verify ${execution}`];
}

/** Runs a script of the demo with the arguments of its process, and reports an error in one line. */
export async function runScript(name: string, main: (argv: string[]) => Promise<number>): Promise<void> {
  try {
    process.exitCode = await main(process.argv.slice(2));
  } catch (error) {
    console.error(`${name}: ${error instanceof Error ? error.message : error}`);
    process.exitCode = 1;
  }
}
