import { type ExactValue, isRawNumber } from "@nova/engine";
import { checkContext, checkSchema, keepingDigits } from "@nova/workflow";
import type { ExactObject } from "../input/exact.ts";
import type { WholeValue } from "./values.ts";

/** A Python expression that must be true for a value; a sandbox evaluates it later. */
export interface Expression {
  python: string;
  value: WholeValue;
}

/** A form replaces a value in a test; its first key names it. */
interface Form {
  keys: readonly string[];
  /** Says how to write the form correctly; undefined: it is correct. */
  problem(form: ExactObject): string | undefined;
  fits(form: ExactObject, value: WholeValue, later: Expression[]): boolean | Promise<boolean>;
}

const forms: Readonly<Record<string, Form>> = {
  $any: {
    keys: ["$any"],
    problem: ({ $any }) => ($any === true ? undefined : `write {"$any": true}`),
    fits: () => true,
  },
  $approx: {
    keys: ["$approx", "within"],
    problem: ({ $approx, within }) =>
      isRawNumber($approx) && isRawNumber(within) ? undefined : `write {"$approx": 850, "within": 0.01}`,
    fits: ({ $approx, within }, value) =>
      isRawNumber(value) && Math.abs(numberOf(value) - numberOf($approx)) <= numberOf(within),
  },
  $schema: {
    keys: ["$schema"],
    problem({ $schema }) {
      if (!isObject($schema)) return `write {"$schema": {"type": "number"}}`;
      const [first] = checkSchema({ properties: { value: $schema } }).problems;
      return first && `its schema: ${first.message}`;
    },
    async fits({ $schema }, value) {
      const inputs = keepingDigits(JSON.stringify({ properties: { value: $schema } }));
      return (await checkContext({ inputs }, JSON.stringify({ value }))).length === 0;
    },
  },
  $python: {
    keys: ["$python"],
    problem: ({ $python }) =>
      typeof $python === "string" && $python.trim() !== "" ? undefined : `write {"$python": "value > 0"}`,
    fits({ $python }, value, later) {
      later.push({ python: String($python), value });
      return true;
    },
  },
};

/** Checks an object that has a key with one `$`; undefined: it is a correct form. */
export function formProblem(form: ExactObject): string | undefined {
  const mark = markOf(form) ?? "";
  const known = forms[mark];
  const others = `use one of ${Object.keys(forms).join(", ")}, $file, $text and $json`;
  if (!known) return `there is no form "${mark}" - ${others}; in data, a key that starts with $ needs one more $`;
  const stranger = Object.keys(form).find((key) => !known.keys.includes(key));
  return stranger === undefined ? known.problem(form) : `the form ${mark} has no "${stranger}" - leave it out`;
}

/** The key that makes an object a form. */
export function markOf(value: ExactObject): string | undefined {
  return Object.keys(value).find((key) => /^\$(?!\$)/.test(key));
}

/** Whether a value contains a form at any depth. */
export function hasForm(value: WholeValue): boolean {
  if (Array.isArray(value)) return value.some(hasForm);
  if (!isObject(value)) return false;
  const mark = markOf(value);
  return mark === undefined ? Object.values(value).some(hasForm) : mark !== "$file";
}

/** Whether a value is as expected, in every digit. Python expressions are added to `later`. */
export async function fits(expected: WholeValue, value: WholeValue, later: Expression[]): Promise<boolean> {
  if (Array.isArray(expected)) {
    if (!Array.isArray(value) || value.length !== expected.length) return false;
    const pairs = expected.map((one, index): Pair => [one, value[index] as WholeValue]);
    return allFit(pairs, later);
  }
  if (!isObject(expected)) return JSON.stringify(expected) === JSON.stringify(value);
  const form = forms[markOf(expected) ?? ""];
  if (form) return form.fits(expected, value, later);
  if (!isObject(value)) return false;
  const keys = Object.keys(expected);
  if (keys.length !== Object.keys(value).length || keys.some((key) => !Object.hasOwn(value, key))) return false;
  const pairs = keys.map((key): Pair => [expected[key] as WholeValue, value[key] as WholeValue]);
  return allFit(pairs, later);
}

type Pair = readonly [expected: WholeValue, value: WholeValue];

async function allFit(pairs: readonly Pair[], later: Expression[]): Promise<boolean> {
  for (const [expected, value] of pairs) if (!(await fits(expected, value, later))) return false;
  return true;
}

function isObject(value: ExactValue | undefined): value is ExactObject {
  return value !== null && typeof value === "object" && !Array.isArray(value) && !isRawNumber(value);
}

function numberOf(value: ExactValue | undefined): number {
  return Number(JSON.stringify(value));
}
