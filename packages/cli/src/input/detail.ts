import { readFile } from "node:fs/promises";
import { isJson } from "@nova/workflow";
import { InvalidInput, refusing } from "../errors.ts";
import { isObjectText } from "./context.ts";

/** What there is to say of an event: the text of a JSON object, or `@file` with one in it. Throws `InvalidInput`. */
export async function readDetail(given: string): Promise<string> {
  const path = given.startsWith("@") ? given.slice(1) : undefined;
  const unread = ({ message }: Error) => `--detail: "${path}" cannot be read (${message}) - correct the path`;
  const text = path === undefined ? given : await readFile(path, "utf8").catch(refusing(unread));
  if (isObjectText(text) && isJson(text)) return text;
  throw new InvalidInput(`--detail ${given} is no JSON object - write --detail '{"key": "value"}'`);
}
