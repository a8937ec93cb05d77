import { text } from "node:stream/consumers";
import type { CredentialOwner, NewCredential } from "@nova/client";
import { askApi } from "../api/ask.ts";
import { exitCodes, InvalidInput } from "../errors.ts";
import { isObjectText, readJsonFile } from "../input/context.ts";
import { told } from "../output/table.ts";
import { printError, type Told } from "../output/terminal.ts";
import { actionOf, command } from "./command.ts";

const kinds: readonly NewCredential["kind"][] = ["email", "database", "http", "oauth2", "custom"];

export const credentials = command({
  summary: "store, list and remove what nodes log in with, or seal all of it with a new key",
  takes: {
    "<set|list|remove|rotate>": "what to do",
    "[owner]": "slug of a client (default: those without one); with --workflow the id of a workflow",
    "[name]": "with set, remove: which one",
    "--workflow": "the owner is a workflow, whose runs get it for every client",
    "--kind <kind>": `with set: ${kinds.join(", ")}; absent: the one that it is called like`,
    "--file <path>": "with set: JSON file with its values; - is standard input",
    "--set <field=text...>": "with set: a value that is not secret, since commands are kept and seen",
  },
  async run([asked, owner = "", name], { workflow, kind, file, set: fields }) {
    const action = actionOf("credentials", ["set", "list", "remove", "rotate"], asked);
    if (action === "rotate") return rotate();
    if (owner === "")
      throw new InvalidInput(`nova credentials ${action} needs whose they are - name a client, or "default"`);
    const whose: CredentialOwner = workflow ? { workflow: owner } : { client: owner };
    if (action === "list") {
      const items = await askApi((nova) => Array.fromAsync(nova.credentials.list(whose)));
      const [header, empty] = [["name", "kind", "changed"], "no credentials - nova credentials set stores one"];
      return told(items, { header, rowOf: ({ name, kind, changed_at }) => [name, kind, changed_at], empty });
    }
    if (!name) throw new InvalidInput(`nova credentials ${action} needs a name - write it behind ${owner}`);
    if (action === "set") return set(whose, name, kind, file, fields);
    await askApi((nova) => nova.credentials.remove(whose, name));
    return { json: { name, removed: true }, text: `${name} is removed` };
  },
});

async function set(owner: CredentialOwner, name: string, given?: string, file?: string, fields: string[] = []) {
  const kind = kinds.find((one) => one === (given ?? name));
  if (!kind) {
    const what = given === undefined ? `the kind of "${name}" is not told by its name` : `there is no kind "${given}"`;
    throw new InvalidInput(`${what} - use one of --kind ${kinds.join(", ")}`);
  }
  const values = await readValues(file, fields);
  const stored = await askApi((nova) => nova.credentials.set(owner, name, { kind, values }));
  return { json: stored, text: `${stored.name} (${stored.kind}) is stored` };
}

async function rotate(): Promise<Told> {
  const { sealed, locked } = await askApi((nova) => nova.credentials.rotate());
  for (const one of locked) printError(`no key opens ${one} - store it anew`);
  const code = locked.length === 0 ? exitCodes.completed : exitCodes.failed;
  return { json: { sealed, locked }, text: `${sealed} sealed with the new key`, code };
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
  let values: Values;
  try {
    values = JSON.parse(json);
  } catch {
    // The parser's own sentence would quote the secret.
    throw new InvalidInput(`the values are no JSON - ${shape}`);
  }
  if (isObjectText(json)) return values;
  throw new InvalidInput(`the values are no object - ${shape}`);
}

function fieldIn(setting: string): [string, unknown] {
  const at = setting.indexOf("=");
  if (at < 1) throw new InvalidInput(`--set ${setting} has no field and value - write --set user=billing@example.com`);
  const [field, value] = [setting.slice(0, at), setting.slice(at + 1)];
  return [field, /(^|_)port$/.test(field) && /^\d+$/.test(value) ? Number(value) : value];
}
