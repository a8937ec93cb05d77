import type { LocalCloud } from "@nova/local";
import type { Bench, BenchApart, Figure } from "./figure.ts";
import { agents } from "./figures/agents.ts";
import { api } from "./figures/api.ts";
import { atOnce, branchesAtOnce, fair } from "./figures/at-once.ts";
import { coldRun } from "./figures/cold-run.ts";
import { fortyNodes } from "./figures/forty-nodes.ts";
import { growth } from "./figures/growth.ts";
import { largeValue } from "./figures/large-value.ts";
import { longLoop } from "./figures/long-loop.ts";
import { mapItems } from "./figures/map-items.ts";
import { memory } from "./figures/memory.ts";
import { plans } from "./figures/plans.ts";
import { promptNodes } from "./figures/prompt-nodes.ts";
import { proof } from "./figures/proof.ts";
import { references } from "./figures/references.ts";
import { responsive } from "./figures/responsive.ts";
import { restart } from "./figures/restart.ts";
import { session } from "./figures/session.ts";
import { stress } from "./figures/stress.ts";
import { waiting } from "./figures/waiting.ts";

/** These benches run before all others, in this order. The first of them need a machine that does nothing else. */
const apart: Record<string, BenchApart> = {
  "cold-run": coldRun,
  "at-once": atOnce,
  plans,
  fair,
  memory,
  references,
  responsive,
};

const inCloud: Record<string, Bench> = {
  "forty-nodes": fortyNodes,
  growth,
  "prompt-nodes": promptNodes,
  agents,
  "map-items": mapItems,
  "branches-at-once": branchesAtOnce,
  "large-value": largeValue,
  api,
  "long-loop": longLoop,
  proof,
  waiting,
  restart,
  session,
  stress,
};

/**
 * Returns the named benches in the order in which they run; without names returns all. Throws `RangeError` for an
 * unknown name.
 */
export function chooseBenches(names: readonly string[]): string[] {
  const all = Object.keys({ ...apart, ...inCloud });
  const unknown = names.find((name) => !all.includes(name));
  if (unknown !== undefined) throw new RangeError(`there is no figure "${unknown}" - choose of ${all.join(", ")}`);
  return all.filter((name) => names.length === 0 || names.includes(name));
}

/** Runs the chosen benches and returns all figures. Reports each figure as soon as it is measured. */
export async function takeFigures(
  open: () => Promise<LocalCloud>,
  chosen: readonly string[],
  onFigure: (figure: Figure) => void,
): Promise<Figure[]> {
  const all: Figure[] = [];
  let cloud: LocalCloud | undefined;
  for (const name of chosen) {
    if (!apart[name]) cloud ??= await open();
    const figures = (await (apart[name]?.() ?? inCloud[name]?.(cloud as LocalCloud))) ?? [];
    for (const figure of figures) {
      all.push(figure);
      onFigure(figure);
    }
  }
  return all;
}
