import { readFile } from "node:fs/promises";
import { basename, join, relative } from "node:path";
import { styleText } from "node:util";
import { tableLines } from "@nova/cli";
import type { Booking } from "./database.ts";
import type { MailRun } from "./runs.ts";

const columns = ["file", "amount", "currency", "expected", "branch", "time"];

/** Compares the results of the mails with the totals that people read, and lists the errors of failed runs. */
export async function tableOf(runs: MailRun[], invoices: string): Promise<string> {
  const rows = await Promise.all(runs.map((run) => rowOf(run, invoices)));
  const failures = runs.flatMap(({ result: { file, error } }) =>
    error === null ? [] : [styleText("red", `${file}: ${error}`)],
  );
  return [...tableLines(columns, rows), "", ...failures].join("\n");
}

async function rowOf({ result }: MailRun, invoices: string): Promise<string[]> {
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

/** Returns the total that people read on the invoice; null for other files. */
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

/** The rows in PostgreSQL's format. */
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
