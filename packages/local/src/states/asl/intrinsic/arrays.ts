import { sameJson } from "../json.ts";
import { arity, array, type Intrinsic, integer } from "./arguments.ts";

/** Step Functions: the longest array that States.ArrayRange makes. */
const LONGEST_RANGE = 1000;

export const arrayFunctions: Record<string, Intrinsic> = {
  "States.Array": (values) => values,

  "States.ArrayPartition": (values) => {
    arity(values, 2);
    const items = array(values[0], "first argument");
    const size = integer(values[1], "chunk size");
    if (size < 1) throw new RangeError("The chunk size must be positive");
    return Array.from({ length: Math.ceil(items.length / size) }, (_, i) => items.slice(i * size, (i + 1) * size));
  },

  "States.ArrayContains": (values) => {
    arity(values, 2);
    return array(values[0], "first argument").some((item) => sameJson(item, values[1] ?? null));
  },

  "States.ArrayRange": (values) => {
    arity(values, 3);
    const [from, to, step] = ["start", "end", "step"].map((name, i) => integer(values[i], name)) as [
      number,
      number,
      number,
    ];
    if (step === 0) throw new RangeError("The step must not be zero");
    const length = Math.max(0, Math.floor((to - from) / step) + 1);
    if (length > LONGEST_RANGE) throw new RangeError(`The range has more than ${LONGEST_RANGE} elements`);
    return Array.from({ length }, (_, i) => from + i * step);
  },

  "States.ArrayGetItem": (values) => {
    arity(values, 2);
    const items = array(values[0], "first argument");
    const index = integer(values[1], "index");
    const item = index < 0 ? undefined : items[index];
    if (item === undefined) throw new RangeError(`The index ${index} is outside the array`);
    return item;
  },

  "States.ArrayLength": (values) => {
    arity(values, 1);
    return array(values[0], "argument").length;
  },

  "States.ArrayUnique": (values) => {
    arity(values, 1);
    const items = array(values[0], "argument");
    return items.filter((item, i) => items.findIndex((earlier) => sameJson(earlier, item)) === i);
  },
};
