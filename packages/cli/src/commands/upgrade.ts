import type { FormatState, StoredFormat } from "@nova/service";
import { askApi } from "../api/ask.ts";
import { exitCodes, InvalidInput } from "../errors.ts";
import { tableLines } from "../output/table.ts";
import { styled } from "../output/terminal.ts";
import { command } from "./command.ts";

const meanings: Record<FormatState, string> = {
  current: "written by this version",
  older: "older; readable, and never rewritten",
  newer: "newer than this version, which cannot read it - update NOVA",
  unknown: "unknown to this version - update NOVA",
};

export const upgrade = command({
  summary: "check whether this version can read all stored data",
  takes: {
    "--check": "only check; stored formats are never rewritten",
    "--aws": "the deployment whose table NOVA_TABLE names",
  },
  async run(_, { check, aws }) {
    if (!check) throw new InvalidInput("nova upgrade needs --check, which lists the stored formats");
    const found = await readFormats(aws === true);
    const readable = found.every(({ state }) => state === "current" || state === "older");
    const verdict = readable ? "this version reads all of it" : "this version does not read all of it";
    const rows = found.map(({ entity, format, items, state }) => {
      return [entity, format === null ? "-" : String(format), String(items), meanings[state]];
    });
    const lines = tableLines(["kind", "format", "items", "is"], rows);
    return {
      json: { readable, formats: found },
      text: found.length === 0 ? "no data is stored yet" : [...lines, styled(readable ? "green" : "red", verdict)],
      code: readable ? exitCodes.completed : exitCodes.failed,
    };
  },
});

async function readFormats(aws: boolean): Promise<StoredFormat[]> {
  const { sumFormats, surveyAll } = await import("@nova/service");
  if (aws) {
    const { withDeployed } = await import("../archive/deployed.ts");
    return withDeployed(surveyAll);
  }
  return sumFormats(await askApi((nova) => Array.fromAsync(nova.list("/formats", {}))));
}
