import { writeFile } from "node:fs/promises";
import { shellWord } from "@nova/workflow/shell-word";
import { askApi } from "../api/ask.ts";
import type { ContextValue } from "../api/context-value.ts";
import { exitCodes, InvalidInput } from "../errors.ts";
import { print, printBytes } from "../output/terminal.ts";
import type { CliCommand } from "./command.ts";

export const get: CliCommand = {
  declare: (command) =>
    command
      .summary("print a value of what an execution knows, or save a file that it made")
      .argument("<execution_id>")
      .argument("<key>", "dot path into the context: report, invoice.lines.0.total")
      .option("--into <file>", "write it there: bytes as they are, everything else as JSON")
      .option("--force", "overwrite the file if it exists")
      .option("--json", "print one JSON object"),

  async run([execution = "", key = ""], { into, force, json }) {
    const value = await askApi(async (server) => {
      const { readContextValue } = await import("../api/context-value.ts");
      return readContextValue(server, execution, key);
    });
    if (typeof into === "string") await write(into, value, force === true);
    if (json) print(resultOf(execution, key, value, into), true);
    else if (typeof into === "string") print(`${into} holds ${key} of ${execution}, ${sizeOf(value)} bytes`);
    else if ("json" in value) print(value.json, true);
    else if (!printBytes(value.bytes)) {
      const command = `nova get ${execution} ${shellWord(key)} --into ${shellWord(key)}`;
      throw new InvalidInput(`"${key}" is a file of ${sizeOf(value)} bytes, not for a terminal - ${command}`);
    }
    return exitCodes.completed;
  },
};

function sizeOf(value: ContextValue): number {
  return "json" in value ? Buffer.byteLength(value.json) : value.bytes.length;
}

/** Bytes are no JSON: of them it says where they are. */
function resultOf(execution: string, key: string, value: ContextValue, into: unknown): string {
  const place = { execution_id: execution, key, ...(typeof into === "string" && { into }) };
  if (!("json" in value)) return JSON.stringify({ ...place, bytes: value.bytes.length, sha256: value.sha256 });
  return `${JSON.stringify(place).slice(0, -1)},"value":${value.json}}`;
}

async function write(file: string, value: ContextValue, force: boolean): Promise<void> {
  const content = "json" in value ? `${value.json}\n` : value.bytes;
  await writeFile(file, content, { flag: force ? "w" : "wx" }).catch((cause: NodeJS.ErrnoException) => {
    if (cause.code === "EEXIST")
      throw new InvalidInput(`"${file}" exists - name another file, or add --force`, { cause });
    throw new InvalidInput(`"${file}" cannot be written (${cause.code}) - name another file`, { cause });
  });
}
