import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { basename, join, relative, resolve } from "node:path";
import { parseArgs, styleText } from "node:util";
import { tableLines } from "@nova/cli";
import { ensurePython, openLocalCloud, openMailCatcher } from "@nova/local";
import { publishExample } from "../../demo/publish.ts";
import { type InvoiceMail, invoiceMails } from "./mails.ts";
import { inParallel, type MailRun, runMail } from "./run-mails.ts";

const example = resolve(import.meta.dirname, "..");
const invoices = join(example, "invoices");
/** Runs at the same time: as many as a laptop has use for. */
const width = 2;

/**
 * The invoice workflow on real mails: `npm run demo` takes the seven invoices of the example and a mail without one;
 * `npm run -s demo -- --json [pdf ...]` takes the PDFs given and prints one JSON array.
 */
async function main(argv: string[]): Promise<number> {
  const { values, positionals } = parseArgs({
    args: argv,
    allowPositionals: true,
    options: { json: { type: "boolean", default: false } },
  });
  const say = values.json ? () => undefined : (line: string) => console.log(line);
  const dataDir = resolve(process.env.NOVA_DATA_DIR ?? ".nova");
  const mails = await readMails(positionals.map((path) => resolve(path)));

  say("Python and its packages ...");
  await ensurePython(dataDir);
  const cloud = await openLocalCloud({ dataDir, warn: (sentence) => console.error(`nova: ${sentence}`) });
  const catcher = await openMailCatcher({ dir: join(dataDir, "demo", "notices") });
  try {
    const version = await publishExample(cloud, example);
    await keepMails(join(dataDir, "demo", "mails"), mails);
    await cloud.warmed();
    const noticesBefore = (await catcher.messages()).length;
    say(
      `${version.workflow.name}: ${mails.length} mails through ${version.stateMachineArn.split(":stateMachine:")[1]}\n`,
    );
    const runs = await inParallel(mails, width, async (mail) => {
      const run = await runMail(cloud, version, mail, catcher.port);
      say(styleText("dim", `  ${run.result.file}: ${run.result.branch ?? run.result.status}`));
      return run;
    });
    if (values.json) console.log(JSON.stringify(runs.map(({ result }) => result)));
    else await report(runs, (await catcher.messages()).length - noticesBefore, dataDir);
    return runs.every(({ result }) => result.status === "completed") ? 0 : 1;
  } finally {
    await catcher.close();
    await cloud.close();
  }
}

async function readMails(pdfs: string[]): Promise<InvoiceMail[]> {
  const missing = pdfs.find((path) => !existsSync(path));
  if (missing !== undefined) throw new RangeError(`there is no file ${missing} - give the paths of PDFs`);
  if (pdfs.length > 0) return (await invoiceMails(pdfs)).slice(0, pdfs.length);
  const files = (await readdir(invoices)).filter((name) => name.endsWith(".pdf")).sort();
  return invoiceMails(files.map((name) => join(invoices, name)));
}

/** The mails as files, so that the same run can be had with `nova run ... --file mail=<file>`. */
async function keepMails(folder: string, mails: InvoiceMail[]): Promise<void> {
  await mkdir(folder, { recursive: true });
  for (const { file, eml } of mails)
    await writeFile(join(folder, `${basename(file, ".pdf").replaceAll(/[^\w.-]+/g, "")}.eml`), eml);
}

async function report(runs: MailRun[], notices: number, dataDir: string): Promise<void> {
  const rows = await Promise.all(runs.map(rowOf));
  console.log(`\n${tableLines(["file", "amount", "currency", "expected", "branch", "time"], rows).join("\n")}\n`);
  for (const { result, error } of runs) if (error !== null) console.log(styleText("red", `${result.file}: ${error}`));
  const here = (path: string) => relative(process.cwd(), path) || path;
  console.log(
    `${notices} notices lie in ${here(join(dataDir, "demo", "notices"))}; the mails that came in are in ${here(join(dataDir, "demo", "mails"))}`,
  );
  const last = runs.find(({ result }) => result.branch === "high") ?? runs[0];
  if (last)
    console.log(
      `Every step is on record: npx nova trace ${last.result.execution_id} [--full], npx nova verify ${last.result.execution_id}`,
    );
}

async function rowOf({ result }: MailRun): Promise<string[]> {
  const expected = await expectedTotal(result.file);
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

/** What people read on the invoice; null for a mail that brings none of the example's. */
async function expectedTotal(file: string): Promise<number | null> {
  const path = join(invoices, `${basename(file, ".pdf")}.expected.json`);
  try {
    const [first] = JSON.parse(await readFile(path, "utf8")) as { amount: number }[];
    return first?.amount ?? null;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return null;
    throw error;
  }
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  console.error(`demo: ${error instanceof Error ? error.message : error}`);
  process.exitCode = 1;
}
