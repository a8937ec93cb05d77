import { text } from "node:stream/consumers";
import { InvalidInput } from "../errors.ts";
import { readJsonFile } from "../input/context.ts";

type Values = Record<string, unknown>;

const shape = 'write a JSON object such as {"user": "...", "password": "..."}';

/**
 * The values of a credential: of a JSON file, `-` for standard input, and every `--set field=text` over them. What is
 * secret belongs in the former: a command line is in the shell's history and in the list of processes.
 */
export async function readValues(file: string | undefined, settings: readonly string[]): Promise<Values> {
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
