import { readFile } from "node:fs/promises";
import { isJson } from "@nova/workflow";
import { InvalidInput, throwInvalid } from "../errors.ts";
import { isObjectText } from "./context.ts";

/** Reads the detail of an event: a JSON object, or `@file` with one in it. Throws `InvalidInput`. */
export async function readDetail(given: string): Promise<string> {
  const path = given.startsWith("@") ? given.slice(1) : undefined;
  const unread = ({ message }: Error) => `--detail: "${path}" cannot be read (${message}) - correct the path`;
  const text = path === undefined ? given : await readFile(path, "utf8").catch(throwInvalid(unread));
  if (isObjectText(text) && isJson(text)) return text;
  throw new InvalidInput(`--detail ${given} is not a JSON object - write --detail '{"key": "value"}'`);
}
