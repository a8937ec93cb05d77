import type { Origin } from "../scope/bindings.ts";
import type { Call, Callable, Program } from "../scope/program.ts";
import { type Expression, isWithin } from "../tree/nodes.ts";

export interface PassedArguments {
  values: Expression[];
  /** Whether `values` holds every value that the parameter can have. */
  isComplete: boolean;
}

/**
 * Collects the arguments that calls pass to a parameter. If the code passes the function itself to other code, it may
 * get any value.
 */
export function argumentsFor(program: Program, { param, index, holder }: Origin & { kind: "param" }): PassedArguments {
  const method = isMethod(holder);
  const name = callableName(program, holder);
  if (name === undefined) return { values: [], isComplete: false };
  if (method && index === 0) return { values: [], isComplete: true };
  const values: Expression[] = param.fallback ? [param.fallback] : [];
  let all = param.stars === 0 && !method && holder.kind === "function" && holder.decorators.length === 0;
  const calls = callsTo(program, holder, name);
  all &&= program.loadsOf(name).length === calls.length;
  for (const { args } of calls) {
    const value = argumentOf(args, method ? index - 1 : index, param.id);
    if (value) values.push(value);
    all &&= args.every(({ stars }) => stars === 0);
  }
  return { values, isComplete: all };
}

function argumentOf(args: Call["args"], index: number, name: string): Expression | undefined {
  const named = args.find((argument) => argument.name === name);
  const placed = args[index];
  if (named) return named.value;
  return placed && placed.name === null && placed.stars === 0 ? placed.value : undefined;
}

function isMethod(holder: Callable): boolean {
  if (holder.kind === "lambda" || holder.parent?.parent?.kind !== "class") return false;
  return !holder.decorators.some((decorator) => decorator.kind === "name" && decorator.id === "staticmethod");
}

function callableName(program: Program, holder: Callable): string | undefined {
  if (holder.kind === "function") return holder.id;
  const { parent } = holder;
  if (parent?.kind !== "assign" || parent.targets.length !== 1) return undefined;
  const [target] = parent.targets;
  return target?.kind === "name" && program.functionOf({ ...target, stores: false }) === holder ? target.id : undefined;
}

/** A call of a class is a call of its `__init__`. */
function callsTo(program: Program, holder: Callable, name: string): readonly Call[] {
  const holdingClass = holder.kind === "function" ? holder.parent?.parent : null;
  if (holdingClass?.kind !== "class")
    return program.callsOf(name).filter(({ callee }) => program.functionOf(callee) === holder);
  if (name !== "__init__") return program.callsOf(`.${name}`);
  const own = program.callsOf("cls").filter((call) => isWithin(call, holdingClass));
  return [...program.callsOf(holdingClass.id), ...own];
}
