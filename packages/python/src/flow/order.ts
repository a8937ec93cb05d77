import { ancestors, isWithin, type Node } from "../tree/nodes.ts";

/** Whether one node may have run by the time that the other does; what it lies in has not. */
export function mayPrecede(change: Node, read: Node): boolean {
  if (isWithin(read, change)) return false;
  if (change.from < read.from) return true;
  let child = read;
  for (const ancestor of ancestors(read)) {
    if (/^(function|lambda)$/.test(ancestor.kind)) return true;
    // What a loop goes over is looked up once, before it.
    const isHead = ancestor.kind === "for" && ancestor.iterable === child;
    if (!isHead && /^(for|while|comprehension)$/.test(ancestor.kind) && isWithin(change, ancestor)) return true;
    child = ancestor;
  }
  return false;
}
