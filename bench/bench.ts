import type { LocalCloud } from "@nova/local";
import type { Bench, Figure } from "./figure.ts";
import { api } from "./figures/api.ts";
import { atOnce } from "./figures/at-once.ts";
import { branchesAtOnce } from "./figures/branches-at-once.ts";
import { coldRun } from "./figures/cold-run.ts";
import { fortyNodes } from "./figures/forty-nodes.ts";
import { growth } from "./figures/growth.ts";
import { largeValue } from "./figures/large-value.ts";
import { longLoop } from "./figures/long-loop.ts";
import { mapItems } from "./figures/map-items.ts";
import { memory } from "./figures/memory.ts";
import { promptNodes } from "./figures/prompt-nodes.ts";
import { stress } from "./figures/stress.ts";
import { waiting } from "./figures/waiting.ts";

/** In this order: what needs a quiet process first. */
const benches: Record<string, Bench> = {
  "cold-run": coldRun,
  memory,
  "forty-nodes": fortyNodes,
  growth,
  "prompt-nodes": promptNodes,
  "map-items": mapItems,
  "branches-at-once": branchesAtOnce,
  "large-value": largeValue,
  "at-once": atOnce,
  api,
  "long-loop": longLoop,
  waiting,
  stress,
};

/** Those of these names, or all where there are none; in their own order. Throws `RangeError` for a name of nothing. */
export function chooseBenches(names: readonly string[]): Bench[] {
  const unknown = names.find((name) => !Object.hasOwn(benches, name));
  if (unknown !== undefined)
    throw new RangeError(`there is no figure "${unknown}" - choose of ${Object.keys(benches).join(", ")}`);
  const chosen = Object.entries(benches).filter(([name]) => names.length === 0 || names.includes(name));
  return chosen.map(([, bench]) => bench);
}

/** The figures of one run; each is handed on as soon as it is known. */
export async function takeFigures(
  cloud: LocalCloud,
  chosen: readonly Bench[],
  onFigure: (figure: Figure) => void,
): Promise<Figure[]> {
  const all: Figure[] = [];
  for (const bench of chosen) {
    for (const figure of await bench(cloud)) {
      all.push(figure);
      onFigure(figure);
    }
  }
  return all;
}
