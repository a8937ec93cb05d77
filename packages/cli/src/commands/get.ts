import { writeFile } from "node:fs/promises";
import { defined } from "@nova/workflow/defined";
import { shellWord } from "@nova/workflow/shell-word";
import { askApi } from "../api/ask.ts";
import type { ContextValue } from "../api/context-value.ts";
import { InvalidInput, throwInvalid } from "../errors.ts";
import { print, printBytes } from "../output/terminal.ts";
import { command } from "./command.ts";

export const get = command({
  summary: "print a value of an execution's context, or save a file from it",
  takes: {
    "<execution_id>": "",
    "<key>": "dot path into the context: report, invoice.lines.0.total",
    "--into <file>": "write the value there: bytes and texts as they are, other values as JSON",
    "--force": "overwrite the file if it exists",
  },

  async run([execution = "", key = ""], { into, force, json }) {
    const value = await askApi(async (server) => {
      const { readContextValue } = await import("../api/context-value.ts");
      return readContextValue(server, execution, key);
    });
    const content = "json" in value ? fileText(value.json) : value.bytes;
    const bytes = Buffer.byteLength(content);
    if (into !== undefined) await write(into, content, force === true);
    if (json || into !== undefined) {
      const text = `${into} has ${key} of ${execution}, ${bytes} bytes`;
      return { json: resultOf(defined({ execution_id: execution, key, into }), value), text };
    }
    if ("json" in value) print(value.json, true);
    else if (!printBytes(value.bytes)) {
      const wayOut = `nova get ${execution} ${shellWord(key)} --into ${shellWord(key)}`;
      throw new InvalidInput(`"${key}" is a file of ${bytes} bytes, not for a terminal - ${wayOut}`);
    }
    return undefined;
  },
});

/** The JSON result. JSON cannot hold bytes, so for a file it has the hash and size. */
function resultOf(place: object, value: ContextValue): string {
  if (!("json" in value)) return JSON.stringify({ ...place, bytes: value.bytes.length, sha256: value.sha256 });
  return `${JSON.stringify(place).slice(0, -1)},"value":${value.json}}`;
}

/** The text without JSON's quotes and escapes, so that other programs can read the file. */
function fileText(json: string): string {
  return json.startsWith('"') ? JSON.parse(json) : `${json}\n`;
}

async function write(file: string, content: string | Uint8Array, force: boolean): Promise<void> {
  const sentence = ({ code }: NodeJS.ErrnoException) =>
    code === "EEXIST"
      ? `"${file}" exists - name another file, or add --force`
      : `"${file}" cannot be written (${code}) - name another file`;
  await writeFile(file, content, { flag: force ? "w" : "wx" }).catch(throwInvalid(sentence));
}
