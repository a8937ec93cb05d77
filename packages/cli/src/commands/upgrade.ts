import { styleText } from "node:util";
import type { FormatState, StoredFormat } from "@nova/service";
import { withCloud } from "../cloud.ts";
import { exitCodes, InvalidInput } from "../errors.ts";
import { tableLines } from "../output/table.ts";
import { refuseServer } from "../remote/server.ts";
import type { CliCommand } from "./command.ts";

const meanings: Record<FormatState, string> = {
  current: "as this release writes it",
  older: "of an earlier release; it is read, and stays as it is",
  newer: "of a later release: this one cannot read it - update NOVA",
  unknown: "nothing that this release knows - update NOVA",
};

export const upgrade: CliCommand = {
  declare: (command) =>
    command
      .summary("tell whether this release can read everything that is stored")
      .option("--check", "look, and change nothing: stored formats are never rewritten")
      .option("--aws", "the deployment whose table NOVA_TABLE names")
      .option("--json", "print one JSON object"),

  async run(_, { check, aws, json }) {
    if (!check) throw new InvalidInput("nova upgrade changes nothing by itself - say --check to see what is stored");
    refuseServer("nova upgrade");
    const found = await stored(aws === true);
    const readable = found.every(({ state }) => state === "current" || state === "older");
    if (json) console.log(JSON.stringify({ readable, formats: found }));
    else if (found.length === 0) console.log("nothing is stored yet");
    else {
      console.log(tableLines(["kind", "format", "items", "is"], found.map(rowOf)).join("\n"));
      const verdict = readable ? "this release reads all of it" : "this release does not read all of it";
      console.log(styleText(readable ? "green" : "red", verdict));
    }
    return readable ? exitCodes.completed : exitCodes.failed;
  },
};

async function stored(aws: boolean): Promise<StoredFormat[]> {
  if (!aws) return withCloud(({ service }) => service.formats.stored());
  const { deployedPorts } = await import("../archive/deployed.ts");
  return (await deployedPorts()).formats.stored();
}

function rowOf({ entity, format, items, state }: StoredFormat): string[] {
  return [entity, format === null ? "-" : String(format), String(items), meanings[state]];
}
