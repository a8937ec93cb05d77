import { arity, type Intrinsic, integer } from "./arguments.ts";
import { arrayFunctions } from "./arrays.ts";
import { textFunctions } from "./texts.ts";

/** Every intrinsic function of the States Language. One that cannot answer throws a RangeError with the reason. */
export const intrinsics: Record<string, Intrinsic> = {
  ...arrayFunctions,
  ...textFunctions,

  "States.MathAdd": (values) => {
    arity(values, 2);
    return integer(values[0], "first argument") + integer(values[1], "second argument");
  },

  "States.MathRandom": (values, random) => {
    arity(values, 2, 3);
    const from = integer(values[0], "start");
    const to = integer(values[1], "end");
    if (from >= to) throw new RangeError("The start must be less than the end");
    const chance = values[2] === undefined ? random() : seeded(integer(values[2], "seed"));
    return from + Math.floor(chance * (to - from));
  },

  "States.UUID": (values, _random, uuid) => {
    arity(values, 0);
    return uuid();
  },
};

/** The same seed gives the same number, as in AWS, though not the number that AWS's generator gives. */
function seeded(seed: number): number {
  let mixed = Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return ((mixed ^ (mixed >>> 16)) >>> 0) / 2 ** 32;
}
