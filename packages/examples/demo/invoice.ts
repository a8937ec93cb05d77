import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import { parseArgs, styleText } from "node:util";
import { dataFolder } from "@nova/cli";
import { atOnce } from "@nova/engine";
import { ensurePython, type LocalCloud, openApi, openLocalCloud, openMail, openMailCatcher } from "@nova/local";
import { openDatabase, prepareBookings, readBookings } from "./database.ts";
import { address, deliver, type InvoiceMail, invoiceMails, invoices, openOffice, ownInvoices } from "./mails.ts";
import {
  bookingsTable,
  followMail,
  listFiles,
  type MailResult,
  publishExample,
  runScript,
  startMail,
  tableOf,
} from "./runs.ts";

const example = resolve(import.meta.dirname, "../invoice");
const sibling = resolve(example, "../invoice-ai");
/** Number of runs at the same time. On a laptop, more runs at a time would not end earlier. */
const width = 2;

/**
 * Runs the invoice workflows on real mails. `npm run demo` takes the seven invoices of the example and a mail without
 * one. It sends them to the hand-written workflow, which notifies by mail and books in PostgreSQL, and then runs the
 * workflow written as prompts. `npm run -s demo -- --json [pdf ...]` runs the first workflow on other PDFs and prints
 * one JSON array. With `--console` it prints a link to the console at the end, and keeps running until Ctrl-C.
 */
async function main(argv: string[]): Promise<number> {
  const { values, positionals } = parseArgs({
    args: argv,
    allowPositionals: true,
    options: { json: { type: "boolean", default: false }, console: { type: "boolean", default: false } },
  });
  const say = values.json ? () => undefined : (line: string) => console.log(line);
  const dataDir = resolve(dataFolder());
  const mails = await readMails(positionals.map((path) => resolve(path)));
  await keepMails(join(dataDir, "demo", "mails"), mails);
  await using stack = new AsyncDisposableStack();
  const opened = await openServers(stack, dataDir, say);

  const runs = await runBySending(opened, mails);
  if (values.json) console.log(JSON.stringify(runs));
  else {
    say(`\n${await tableOf(runs, invoices)}`);
    const executions = runs.map(({ execution_id }) => execution_id);
    say(bookingsTable(await readBookings(opened.database, executions)));
    say(
      "The same mails, with nodes written in sentences; their Python is pinned in a lockfile, and no model is asked:",
    );
    const again = await runInSentences(opened, mails);
    say(`\n${await tableOf(again, invoices)}`);
    const shown = runs.find(({ branch }) => branch === "high") ?? runs[0];
    runs.push(...again);
    const notices = (await opened.catcher.messages()).length - opened.noticesBefore;
    for (const line of listFiles(dataDir, notices, shown?.execution_id)) say(line);
    if (values.console) await showConsole(opened.cloud, say);
    else say("In the browser: npm run demo -- --console");
  }
  return runs.every(({ status }) => status === "completed") ? 0 : 1;
}

type Servers = Awaited<ReturnType<typeof openServers>>;

/**
 * Starts NOVA and the servers that it needs. They are closed in the opposite order. PostgreSQL starts first, because it
 * takes longest.
 */
async function openServers(stack: AsyncDisposableStack, dataDir: string, say: (line: string) => void) {
  const opening = openDatabase(join(dataDir, "demo", "postgres"));
  stack.defer(async () => (await opening).close());
  say("Python and its packages ...");
  await Promise.all([ensurePython({ debian: true }), opening]);
  const warn = (sentence: string) => console.error(`nova: ${sentence}`);
  const cloud = await openLocalCloud({ dataDir, warn });
  stack.defer(() => cloud.close());
  const catcher = await openMailCatcher({ dir: join(dataDir, "demo", "notices") });
  stack.defer(() => catcher.close());
  const incoming = await openMail(cloud, { port: 0 });
  stack.defer(() => incoming.close());
  const noticesBefore = (await catcher.messages()).length;
  return { cloud, database: await opening, catcher, noticesBefore, mailPort: incoming.port, say };
}

async function runBySending({ cloud, database, catcher, mailPort, say }: Servers, mails: InvoiceMail[]) {
  await prepareBookings(database);
  await openOffice(cloud, example, { smtpPort: catcher.port, database });
  await cloud.warmed();
  say(`${mails.length} mails to ${address}, which start the workflow "invoice"\n`);
  return followAll(cloud, mails, say, (mail) => deliver(cloud, mailPort, mail));
}

async function runInSentences({ cloud, catcher, say }: Servers, mails: InvoiceMail[]) {
  const version = await publishExample(cloud, sibling, (text) => withMailServer(text, `127.0.0.1:${catcher.port}`));
  const machine = version.stateMachineArn.split(":stateMachine:")[1];
  say(`${version.workflow.name}: ${mails.length} mails through ${machine}\n`);
  return followAll(cloud, mails, say, (mail) => startMail(cloud, version, mail, catcher.port));
}

/**
 * Lets the nodes that send mail connect to the mail server. The code of all other nodes reaches no host of this
 * machine.
 */
function withMailServer(text: string, host: string): string {
  const definition = JSON.parse(text) as { nodes: { id: string }[] };
  const sends = ({ id }: { id: string }) => id.startsWith("notify_") || id === "send_rejection";
  const nodes = definition.nodes.map((node) => (sends(node) ? { ...node, network: { allow: [host] } } : node));
  return JSON.stringify({ ...definition, nodes });
}

function followAll(
  cloud: LocalCloud,
  mails: InvoiceMail[],
  say: Servers["say"],
  start: (mail: InvoiceMail) => Promise<string>,
): Promise<MailResult[]> {
  const run = async (mail: InvoiceMail) => {
    const followed = await followMail(cloud, mail, await start(mail));
    say(styleText("dim", `  ${followed.file}: ${followed.branch ?? followed.status}`));
    return followed;
  };
  return atOnce(mails, run, width);
}

async function readMails(pdfs: string[]): Promise<InvoiceMail[]> {
  const missing = pdfs.find((path) => !existsSync(path));
  if (missing !== undefined) throw new RangeError(`there is no file ${missing} - give the paths of PDFs`);
  if (pdfs.length > 0) return (await invoiceMails(pdfs)).slice(0, pdfs.length);
  return invoiceMails(await ownInvoices());
}

/** Stores the mails as files, so that `nova run ... --file mail=<file>` can repeat a run. */
async function keepMails(folder: string, mails: InvoiceMail[]): Promise<void> {
  await mkdir(folder, { recursive: true });
  for (const { file, eml } of mails)
    await writeFile(join(folder, `${basename(file, ".pdf").replaceAll(/[^\w.-]+/g, "")}.eml`), eml);
}

/** Shows the runs in the browser until Ctrl-C. */
async function showConsole(cloud: LocalCloud, say: (line: string) => void): Promise<void> {
  const page = async () => (await import("@nova/console/build")).buildPage();
  const api = await openApi(cloud, { port: 0, page });
  try {
    say(`The runs in the browser (the link signs in once; Ctrl-C ends this): ${api.consoleLink()}`);
    await Promise.race([once(process, "SIGINT"), once(process, "SIGTERM")]);
  } finally {
    await api.close();
  }
}

await runScript("demo", main);
