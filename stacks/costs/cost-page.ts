import { readFileSync, writeFileSync } from "node:fs";
import { costTable } from "./table.ts";

const file = new URL("../../docs/deploy.md", import.meta.url);
const between = /(<!-- costs -->).*(<!-- \/costs -->)/s;

/** The page on deployment: its text now, and its text with the table of today's costs. */
export function readCostPage(): { now: string; wanted: string } {
  const now = readFileSync(file, "utf8");
  return { now, wanted: now.replace(between, (_, start, end) => `${start}\n${costTable()}\n${end}`) };
}

if (import.meta.main) writeFileSync(file, readCostPage().wanted);
