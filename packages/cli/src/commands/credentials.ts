import { text } from "node:stream/consumers";
import type { CredentialOwner, NewCredential } from "@nova/client";
import { askApi } from "../api/ask.ts";
import { exitCodes, InvalidInput } from "../errors.ts";
import { isObjectText, readJsonFile } from "../input/context.ts";
import { listed } from "../output/table.ts";
import { type CommandOutput, printError } from "../output/terminal.ts";
import { actionOf, command } from "./command.ts";

const kinds: readonly NewCredential["kind"][] = ["email", "database", "http", "oauth2", "custom"];

export const credentials = command({
  summary: "store, list and remove credentials of nodes, or re-encrypt all of them with a new key",
  takes: {
    "<set|list|remove|rotate>": "what to do",
    "[owner]": "slug of a client (default: for runs without a client); with --workflow the id of a workflow",
    "[name]": "with set, remove: which one",
    "--workflow": "the owner is a workflow, and its runs of every client get the credential",
    "--kind <kind>": `with set: ${kinds.join(", ")}; absent: the kind with the same name as the credential`,
    "--file <path>": "with set: JSON file with the values; - is standard input",
    "--set <field=text...>": "with set: a value that is not secret, because shells store command lines",
  },
  async run([asked, owner = "", name], { workflow, kind, file, set: fields }) {
    const action = actionOf("credentials", ["set", "list", "remove", "rotate"], asked);
    if (action === "rotate") return rotate();
    if (owner === "") throw new InvalidInput(`nova credentials ${action} needs an owner - name a client, or "default"`);
    const whose: CredentialOwner = workflow ? { workflow: owner } : { client: owner };
    if (action === "list") {
      const items = await askApi((nova) => Array.fromAsync(nova.credentials.list(whose)));
      const columns = { name: "name", kind: "kind", changed: "changed_at" } as const;
      return listed(items, { columns, empty: "no credentials - nova credentials set stores one" });
    }
    if (!name) throw new InvalidInput(`nova credentials ${action} needs a name - write it after ${owner}`);
    if (action === "set") return set(whose, name, kind, file, fields);
    await askApi((nova) => nova.credentials.remove(whose, name));
    return { json: { name, removed: true }, text: `${name} is removed` };
  },
});

async function set(owner: CredentialOwner, name: string, kindOption?: string, file?: string, fields: string[] = []) {
  const kind = kinds.find((one) => one === (kindOption ?? name));
  if (!kind) {
    const what = kindOption === undefined ? `"${name}" is not the name of a kind` : `there is no kind "${kindOption}"`;
    throw new InvalidInput(`${what} - use one of --kind ${kinds.join(", ")}`);
  }
  const values = await readValues(file, fields);
  const stored = await askApi((nova) => nova.credentials.set(owner, name, { kind, values }));
  return { json: stored, text: `${stored.name} (${stored.kind}) is stored` };
}

async function rotate(): Promise<CommandOutput> {
  const { sealed, locked } = await askApi((nova) => nova.credentials.rotate());
  for (const one of locked) printError(`no key decrypts ${one} - store it again`);
  const code = locked.length === 0 ? exitCodes.completed : exitCodes.failed;
  return { json: { sealed, locked }, text: `${sealed} re-encrypted with the new key`, code };
}

type Values = Record<string, unknown>;

const shape = 'write a JSON object such as {"user": "...", "password": "..."}';

/**
 * Reads the values of a credential: from a JSON file (`-` is standard input), then from every `--set field=text`.
 * Secrets belong in the file, because the shell's history and the process list show command lines.
 */
async function readValues(file: string | undefined, settings: readonly string[]): Promise<Values> {
  const values =
    file === undefined
      ? {}
      : parseValues(file === "-" ? await text(process.stdin) : await readJsonFile(file, "credential"));
  return { ...values, ...Object.fromEntries(settings.map(fieldIn)) };
}

function parseValues(json: string): Values {
  let values: Values;
  try {
    values = JSON.parse(json);
  } catch {
    // The parser's message would quote the secret.
    throw new InvalidInput(`the values are not JSON - ${shape}`);
  }
  if (isObjectText(json)) return values;
  throw new InvalidInput(`the values are not an object - ${shape}`);
}

function fieldIn(setting: string): [string, unknown] {
  const at = setting.indexOf("=");
  if (at < 1) throw new InvalidInput(`--set ${setting} has no field and value - write --set user=billing@example.com`);
  const [field, value] = [setting.slice(0, at), setting.slice(at + 1)];
  return [field, /(^|_)port$/.test(field) && /^\d+$/.test(value) ? Number(value) : value];
}
