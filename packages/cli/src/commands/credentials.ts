import { text } from "node:stream/consumers";
import type { CredentialOwner, NewCredential } from "@nova/client";
import { askApi } from "../api/ask.ts";
import { type ExitCode, exitCodes, InvalidInput } from "../errors.ts";
import { readJsonFile } from "../input/context.ts";
import { tableLines } from "../output/table.ts";
import { print, printError } from "../output/terminal.ts";
import type { CliCommand } from "./command.ts";

const kinds: readonly NewCredential["kind"][] = ["email", "database", "http", "oauth2", "custom"];

interface Options {
  workflow?: true;
  kind?: string;
  file?: string;
  set?: string[];
  json?: true;
}

export const credentials: CliCommand = {
  declare: (command) =>
    command
      .summary("store, list and remove what nodes log in with, or seal all of it with a new key")
      .argument("<set|list|remove|rotate>", "what to do")
      .argument("[owner]", "slug of a client (default: those without one); with --workflow the id of a workflow")
      .argument("[name]", "with set, remove: which one")
      .option("--workflow", "the owner is a workflow, whose runs get it for every client")
      .option("--kind <kind>", `with set: ${kinds.join(", ")}; absent: the one that it is called like`)
      .option("--file <path>", "with set: JSON file with its values; - is standard input")
      .option("--set <field=text...>", "with set: a value that is not secret, since commands are kept and seen")
      .option("--json", "print one JSON object"),

  async run([action = "", owner, name], options: Options): Promise<ExitCode> {
    const whose = options.workflow ? { workflow: owner ?? "" } : { client: owner ?? "" };
    if (action === "rotate") return rotate(options.json === true);
    if (!["set", "list", "remove"].includes(action))
      throw new InvalidInput(`nova credentials cannot "${action}" - it can set, list, remove and rotate`);
    if (!owner) throw new InvalidInput(`nova credentials ${action} needs whose they are - name a client, or "default"`);
    if (action === "list") return list(whose, options);
    if (!name) throw new InvalidInput(`nova credentials ${action} needs a name - write it behind ${owner}`);
    return action === "set" ? set(whose, name, options) : remove(whose, name, options);
  },
};

async function set(owner: CredentialOwner, name: string, { kind: given, file, set: fields = [], json }: Options) {
  const kind = kinds.find((one) => one === (given ?? name));
  if (!kind) {
    const what = given === undefined ? `the kind of "${name}" is not told by its name` : `there is no kind "${given}"`;
    throw new InvalidInput(`${what} - use one of --kind ${kinds.join(", ")}`);
  }
  const values = await readValues(file, fields);
  const stored = await askApi((nova) => nova.credentials.set(owner, name, { kind, values }));
  print(json ? JSON.stringify(stored) : `${stored.name} (${stored.kind}) is stored`, json);
  return exitCodes.completed;
}

async function list(owner: CredentialOwner, { json }: Options) {
  const items = await askApi((nova) => Array.fromAsync(nova.credentials.list(owner)));
  if (json) print(JSON.stringify({ items }), true);
  else if (items.length === 0) print("no credentials - nova credentials set stores one");
  else {
    const rows = items.map(({ name, kind, changed_at }) => [name, kind, changed_at]);
    print(tableLines(["name", "kind", "changed"], rows).join("\n"));
  }
  return exitCodes.completed;
}

async function remove(owner: CredentialOwner, name: string, { json }: Options) {
  await askApi((nova) => nova.credentials.remove(owner, name));
  print(json ? JSON.stringify({ name, removed: true }) : `${name} is removed`, json);
  return exitCodes.completed;
}

async function rotate(json: boolean): Promise<ExitCode> {
  const { sealed, locked } = await askApi((nova) => nova.credentials.rotate());
  if (json) print(JSON.stringify({ sealed, locked }), true);
  else print(`${sealed} sealed with the new key`);
  for (const one of locked) printError(`no key opens ${one} - store it anew`);
  return locked.length === 0 ? exitCodes.completed : exitCodes.failed;
}

type Values = Record<string, unknown>;

const shape = 'write a JSON object such as {"user": "...", "password": "..."}';

/**
 * The values of a credential: of a JSON file, `-` for standard input, and every `--set field=text` over them. What is
 * secret belongs in the former: a command line is in the shell's history and in the list of processes.
 */
async function readValues(file: string | undefined, settings: readonly string[]): Promise<Values> {
  const values =
    file === undefined ? {} : parsed(file === "-" ? await text(process.stdin) : await readJsonFile(file, "credential"));
  return { ...values, ...Object.fromEntries(settings.map(fieldIn)) };
}

function parsed(json: string): Values {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    // The parser's own sentence would quote the secret.
    throw new InvalidInput(`the values are no JSON - ${shape}`);
  }
  if (value !== null && typeof value === "object" && !Array.isArray(value)) return value as Values;
  throw new InvalidInput(`the values are no object - ${shape}`);
}

function fieldIn(setting: string): [string, unknown] {
  const at = setting.indexOf("=");
  if (at < 1) throw new InvalidInput(`--set ${setting} has no field and value - write --set user=billing@example.com`);
  const [field, value] = [setting.slice(0, at), setting.slice(at + 1)];
  return [field, /(^|_)port$/.test(field) && /^\d+$/.test(value) ? Number(value) : value];
}
