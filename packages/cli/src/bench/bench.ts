import type { LocalCloud } from "@nova/local";
import type { Bench, Figure } from "./figure.ts";
import { atOnce } from "./figures/at-once.ts";
import { branchesAtOnce } from "./figures/branches-at-once.ts";
import { coldRun } from "./figures/cold-run.ts";
import { fortyNodes } from "./figures/forty-nodes.ts";
import { growth } from "./figures/growth.ts";
import { largeValue } from "./figures/large-value.ts";
import { longLoop } from "./figures/long-loop.ts";
import { mapItems } from "./figures/map-items.ts";
import { promptNodes } from "./figures/prompt-nodes.ts";
import { waiting } from "./figures/waiting.ts";

/** In this order: what needs a quiet process first. */
const benches: Bench[] = [
  coldRun,
  fortyNodes,
  growth,
  promptNodes,
  mapItems,
  branchesAtOnce,
  largeValue,
  atOnce,
  longLoop,
  waiting,
];

/** All figures of one run; each is handed on as soon as it is known. */
export async function takeFigures(cloud: LocalCloud, onFigure: (figure: Figure) => void): Promise<Figure[]> {
  const all: Figure[] = [];
  for (const bench of benches) {
    for (const figure of await bench(cloud)) {
      all.push(figure);
      onFigure(figure);
    }
  }
  return all;
}
