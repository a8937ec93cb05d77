import { mkdir, writeFile } from "node:fs/promises";
import { join, relative, resolve } from "node:path";
import { parseArgs } from "node:util";
import { dataFolder, shellWord, tableLines } from "@nova/cli";
import { readState, startExecution, type WorkflowVersion } from "@nova/engine";
import { ensurePython, type LocalCloud, openLocalCloud } from "@nova/local";
import { mailWith, ownInvoices } from "./mails.ts";
import { fileInput, publishExample, runScript } from "./runs.ts";

const example = resolve(import.meta.dirname, "../batch");

/** The result of one PDF: the keys that the nodes of the map have set, or the error of the failed item. */
type Result =
  | { name: string; amount: number; currency: string | null; branch: string }
  | { error: { message: string } };

interface BatchRun {
  execution_id: string;
  status: string;
  results: Result[] | null;
  summary: { sums: Record<string, number>; high: string[]; unreadable: { name: string; why: string }[] } | null;
}

/**
 * Runs the batch workflow on a mail with all invoices, and on a mail without any. `-- --json [pdf ...]` takes other
 * files and prints the runs as a JSON array.
 */
async function main(argv: string[]): Promise<number> {
  const options = { json: { type: "boolean", default: false } } as const;
  const { values, positionals } = parseArgs({ args: argv, allowPositionals: true, options });
  // npm runs the script in the folder of the workspace. `INIT_CWD` is the folder in which the user called npm.
  const here = process.env.INIT_CWD ?? process.cwd();
  const dataDir = resolve(here, dataFolder());
  const pdfs = positionals.length > 0 ? positionals.map((path) => resolve(here, path)) : await ownInvoices();
  const mails = [await mailWith(pdfs), await mailWith([])];

  await ensurePython({ needed: ["fitz"], debian: true });
  const cloud = await openLocalCloud({ dataDir, warn: (sentence) => console.error(`nova: ${sentence}`) });
  try {
    const version = await publishExample(cloud, example);
    const runs: BatchRun[] = [];
    for (const mail of mails) runs.push(await runMail(cloud, version, mail));
    if (values.json) console.log(JSON.stringify(runs));
    else report(runs, relative(here, await saveMail(dataDir, mails[0])));
    return runs.every(({ status }) => status === "completed") ? 0 : 1;
  } finally {
    await cloud.close();
  }
}

async function runMail(cloud: LocalCloud, version: WorkflowVersion, eml: Buffer): Promise<BatchRun> {
  const { id } = await startExecution(cloud.ports, { version, context: "{}", files: [fileInput("mail", eml)] });
  await cloud.untilEnd(id);
  const { execution, context } = await readState(cloud.ports, id);
  const { results = null, summary = null } = JSON.parse(context.text) as Partial<BatchRun>;
  return { execution_id: id, status: execution.status, results, summary };
}

/** Stores the mail as a file, so that `nova run` can repeat the run. */
async function saveMail(dataDir: string, eml: Buffer | undefined): Promise<string> {
  const file = join(dataDir, "batch", "mail.eml");
  await mkdir(join(dataDir, "batch"), { recursive: true });
  await writeFile(file, eml ?? "");
  return file;
}

function report(runs: BatchRun[], mail: string): void {
  for (const { execution_id, status, results, summary } of runs) {
    console.log(`\n${execution_id}: ${status}, ${results?.length ?? "no"} invoices`);
    const rows = (results ?? []).map((one) =>
      "error" in one
        ? ["-", "-", "-", one.error.message]
        : [one.name, one.amount.toFixed(2), one.currency ?? "-", one.branch],
    );
    if (rows.length > 0) console.log(tableLines(["file", "amount", "currency", "branch"], rows).join("\n"));
    for (const [currency, sum] of Object.entries(summary?.sums ?? {})) console.log(`sum ${sum.toFixed(2)} ${currency}`);
  }
  console.log(`\nThe same run again: npx nova run packages/examples/batch --file ${shellWord(`mail=${mail}`)}`);
  console.log(`Every item on record: npx nova trace ${runs[0]?.execution_id}`);
}

await runScript("batch", main);
