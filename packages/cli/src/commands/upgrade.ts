import type { FormatState, StoredFormat } from "@nova/service";
import { askApi } from "../api/ask.ts";
import { exitCodes, InvalidInput } from "../errors.ts";
import { tableLines } from "../output/table.ts";
import { styled } from "../output/terminal.ts";
import { command } from "./command.ts";

const meanings: Record<FormatState, string> = {
  current: "as this release writes it",
  older: "of an earlier release; it is read, and stays as it is",
  newer: "of a later release: this one cannot read it - update NOVA",
  unknown: "nothing that this release knows - update NOVA",
};

export const upgrade = command({
  summary: "tell whether this release can read everything that is stored",
  takes: {
    "--check": "look, and change nothing: stored formats are never rewritten",
    "--aws": "the deployment whose table NOVA_TABLE names",
  },
  async run(_, { check, aws }) {
    if (!check) throw new InvalidInput("nova upgrade changes nothing by itself - say --check to see what is stored");
    const found = await stored(aws === true);
    const readable = found.every(({ state }) => state === "current" || state === "older");
    const verdict = readable ? "this release reads all of it" : "this release does not read all of it";
    const rows = found.map(({ entity, format, items, state }) => {
      return [entity, format === null ? "-" : String(format), String(items), meanings[state]];
    });
    const lines = tableLines(["kind", "format", "items", "is"], rows);
    return {
      json: { readable, formats: found },
      text: found.length === 0 ? "nothing is stored yet" : [...lines, styled(readable ? "green" : "red", verdict)],
      code: readable ? exitCodes.completed : exitCodes.failed,
    };
  },
});

async function stored(aws: boolean): Promise<StoredFormat[]> {
  const { sumFormats, surveyAll } = await import("@nova/service");
  if (aws) {
    const { withDeployed } = await import("../archive/deployed.ts");
    return withDeployed(surveyAll);
  }
  return sumFormats(await askApi((nova) => Array.fromAsync(nova.list("/formats", {}))));
}
