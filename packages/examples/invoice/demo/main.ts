import { existsSync } from "node:fs";
import { mkdir, readdir, writeFile } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import { parseArgs, styleText } from "node:util";
import { ensurePython, type LocalCloud, openLocalCloud, openMailCatcher } from "@nova/local";
import { publishExample } from "../../demo/publish.ts";
import { type InvoiceMail, invoiceMails } from "./mails.ts";
import { tableOf, whereabouts } from "./report.ts";
import { inParallel, type MailRun, runMail } from "./run-mails.ts";

const example = resolve(import.meta.dirname, "..");
/** The same process, most of its nodes written in sentences. */
const sibling = resolve(example, "../invoice-ai");
const invoices = join(example, "invoices");
/** Runs at the same time: as many as a laptop has use for. */
const width = 2;

/**
 * The invoice workflows on real mails: `npm run demo` takes the seven invoices of the example and a mail without one,
 * first through the workflow whose Python was written by hand, then through the one that is written in sentences.
 * `npm run -s demo -- --json [pdf ...]` takes the PDFs given, through the first, and prints one JSON array.
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
    await keepMails(join(dataDir, "demo", "mails"), mails);
    const noticesBefore = (await catcher.messages()).length;
    const runs = await runAll({ cloud, folder: example, mails, smtpPort: catcher.port, say });
    if (values.json) console.log(JSON.stringify(runs.map(({ result }) => result)));
    else {
      say(`\n${await tableOf(runs, invoices)}`);
      say(
        "The same mails, with nodes written in sentences; their Python is pinned in a lockfile, and no model is asked:",
      );
      const again = await runAll({ cloud, folder: sibling, mails, smtpPort: catcher.port, say });
      say(`\n${await tableOf(again, invoices)}`);
      runs.push(...again);
      const shown = runs.find(({ result }) => result.branch === "high") ?? runs[0];
      const notices = (await catcher.messages()).length - noticesBefore;
      for (const line of whereabouts(dataDir, notices, shown?.result.execution_id)) say(line);
    }
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

interface Demonstration {
  cloud: LocalCloud;
  /** Of the workflow. */
  folder: string;
  mails: InvoiceMail[];
  smtpPort: number;
  say(line: string): void;
}

async function runAll({ cloud, folder, mails, smtpPort, say }: Demonstration): Promise<MailRun[]> {
  const version = await publishExample(cloud, folder);
  await cloud.warmed();
  say(
    `${version.workflow.name}: ${mails.length} mails through ${version.stateMachineArn.split(":stateMachine:")[1]}\n`,
  );
  return inParallel(mails, width, async (mail) => {
    const run = await runMail(cloud, version, mail, smtpPort);
    say(styleText("dim", `  ${run.result.file}: ${run.result.branch ?? run.result.status}`));
    return run;
  });
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  console.error(`demo: ${error instanceof Error ? error.message : error}`);
  process.exitCode = 1;
}
