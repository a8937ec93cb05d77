import { type Finding, finding } from "../findings/finding.ts";
import { at } from "../findings/path.ts";
import { didYouMean } from "../findings/suggest.ts";
import { stayInside } from "./edges.ts";
import type { Outline } from "./outline.ts";

/** A failure goes on at a node that can take it. */
export function* checkOnError({ nodes, byId, homeOf, title }: Outline): Iterable<Finding> {
  const ids = [...byId.values()].filter((node) => node.kind?.edgesIn !== "none").map((node) => node.id);
  for (const { id, onError, path } of nodes) {
    if (onError === undefined) continue;
    const place = at(path, "onError");
    const target = byId.get(onError);
    const home = homeOf.get(onError);
    if (!target && home !== undefined) {
      const message = `onError of "${id}", which is in ${title}, names "${onError}" in ${home} - ${stayInside}`;
      yield finding("NOVA233", place, message);
    } else if (!target) {
      const wayOut = didYouMean(onError, ids) || " - add the node, or correct the id";
      yield finding("NOVA206", place, `onError of "${id}" names the unknown node "${onError}"${wayOut}`);
    } else if (onError === id) {
      yield finding("NOVA408", place, `onError of "${id}" is the node itself - name another one, or use retry`);
    } else if (target.kind?.edgesIn === "none") {
      yield finding("NOVA408", place, `onError of "${id}" is the start - name an action, a decision or an end`);
    }
  }
}
