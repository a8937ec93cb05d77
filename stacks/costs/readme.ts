import { readFileSync, writeFileSync } from "node:fs";
import { costTable } from "./table.ts";

const file = new URL("../../README.md", import.meta.url);
const between = /(<!-- costs -->).*(<!-- \/costs -->)/s;

/** The README with today's table; what stands there and what should. */
export function readmeWithCosts(): { now: string; wanted: string } {
  const now = readFileSync(file, "utf8");
  return { now, wanted: now.replace(between, (_, begin, end) => `${begin}\n${costTable()}\n${end}`) };
}

if (import.meta.main) writeFileSync(file, readmeWithCosts().wanted);
