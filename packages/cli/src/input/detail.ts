import { readFile } from "node:fs/promises";
import { InvalidInput, refusing } from "../errors.ts";
import { isObjectText } from "./context.ts";

/** What there is to say of an event: the text of a JSON object, or `@file` with one in it. Throws `InvalidInput`. */
export async function readDetail(given: string): Promise<string> {
  const text = given.startsWith("@") ? await textOf(given.slice(1)) : given;
  if (isObjectText(text) && isJson(text)) return text;
  throw new InvalidInput(`--detail ${given} is no JSON object - write --detail '{"key": "value"}'`);
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function textOf(path: string): Promise<string> {
  const sentence = ({ message }: Error) => `--detail: "${path}" cannot be read (${message}) - correct the path`;
  return readFile(path, "utf8").catch(refusing(sentence));
}
