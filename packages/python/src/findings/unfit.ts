import type { Change } from "../flow/changes.ts";
import type { Path } from "../flow/paths.ts";
import { readDumps } from "../flow/printed.ts";
import { ancestorPairs, type Node } from "../tree/nodes.ts";
import { findUnfit, type Unfit } from "../values/types.ts";
import type { Problem, Subject } from "./subject.ts";

/** PY150: values that the context cannot store and that no later change replaces. */
export function findUnfitValues(subject: Subject): Problem[] {
  const { program, typeOf, changes } = subject;
  return changes.flatMap((change): Problem[] => {
    const { path, value } = change;
    if (change.kind === "delete" || !path || !value) return [];
    const unfit = findUnfit(program, typeOf, value);
    if (!unfit || isPutRight(change, path, subject)) return [];
    const name = formatPath(change.kind === "any" ? [...path, "[]"] : path);
    const message = `context key "${name}${unfit.path}" gets ${unfit.what}, which cannot be kept as JSON - ${unfit.cure}`;
    return [{ code: "PY150", at: value.from, message }];
  });
}

function formatPath(path: Path): string {
  const name = path.map((key) => (key === "[]" ? "[]" : `.${key}`)).join("");
  return name.startsWith(".") ? name.slice(1) : name;
}

function isPutRight(change: Change, path: Path, { program, typeOf, changes }: Subject): boolean {
  return changes.some((other) => {
    if (other === change || other.node === change.node) return false;
    if (change.kind === "any") return other.node.from > change.node.from || other.kind === "delete";
    const covers = !other.path || (other.path.length <= path.length && other.path.every((key, at) => key === path[at]));
    if (!covers) return false;
    if (other.kind === "any") return (other.path?.length ?? 0) < path.length && other.node.from > change.node.from;
    if (other.kind === "delete") return true;
    return !other.value || findUnfit(program, typeOf, other.value) === undefined;
  });
}

/** PY151: values that json.dumps rejects. */
export function findUnfitDumps({ program, typeOf }: Subject): Problem[] {
  return readDumps(program).flatMap(({ call, value }): Problem[] => {
    const isAided = call.args.some(({ name, stars }) => stars > 0 || /^(default|cls|skipkeys)$/.test(name ?? ""));
    if (!value || isAided || !program.mayRun(call) || isTried(call)) return [];
    const unfit: Unfit | undefined = findUnfit(program, typeOf, value, true);
    if (!unfit) return [];
    const place = unfit.path === "" ? "it is given" : `"${unfit.path.replace(/^\./, "")}" is`;
    const message = `json.dumps cannot write what ${place}, ${unfit.what} - ${unfit.cure}`;
    return [{ code: "PY151", at: unfit.node.from, message }];
  });
}

function isTried(node: Node): boolean {
  return Array.from(ancestorPairs(node)).some(
    ([ancestor, child]) => ancestor.kind === "try" && ancestor.body === child && ancestor.handlers.length > 0,
  );
}
