import { isFields, isSameLeaf, type Leaf, type Matchable, numberText } from "./leaf.ts";
import { fitsWildcard, wildcardProblem } from "./wildcard.ts";

interface Operator {
  /** What the operand has to be; undefined where it is. */
  problem(operand: Matchable): string | undefined;
  /** Whether a value fits; the operand has no problem. */
  fits(operand: Matchable, leaf: Leaf): boolean;
}

/** Operators on texts: the operand is one. */
function onText(fits: (operand: string, text: string) => boolean, problem?: Operator["problem"]): Operator {
  return {
    problem: (operand) => (typeof operand !== "string" ? "must be a text" : problem?.(operand)),
    fits: (operand, leaf) => typeof operand === "string" && typeof leaf === "string" && fits(operand, leaf),
  };
}

const textOperators = {
  prefix: onText((start, text) => text.startsWith(start)),
  suffix: onText((end, text) => text.endsWith(end)),
  "equals-ignore-case": onText((other, text) => text.toLowerCase() === other.toLowerCase()),
  wildcard: onText(fitsWildcard, (operand) => wildcardProblem(String(operand))),
} satisfies Record<string, Operator>;

const comparisons: Record<string, (value: number, bound: number) => boolean> = {
  "=": (value, bound) => value === bound,
  "<": (value, bound) => value < bound,
  "<=": (value, bound) => value <= bound,
  ">": (value, bound) => value > bound,
  ">=": (value, bound) => value >= bound,
};

/** `[">", 0, "<=", 5]`: all of them hold. */
const numeric: Operator = {
  problem: (operand) => {
    const pairs = pairsOf(operand);
    const isRight = pairs.every(
      ([sign, bound]) => Object.hasOwn(comparisons, String(sign)) && numberOf(bound) !== undefined,
    );
    return pairs.length > 0 && pairs.length <= 2 && isRight
      ? undefined
      : 'must be such as [">", 0] or [">", 0, "<=", 5]';
  },
  fits(operand, leaf) {
    const value = numberOf(leaf);
    if (value === undefined) return false;
    return pairsOf(operand).every(
      ([sign, bound]) => comparisons[String(sign)]?.(value, numberOf(bound) ?? Number.NaN) === true,
    );
  },
};

/** As EventBridge compares: binary64. */
function numberOf(value: Matchable | undefined): number | undefined {
  if (value === undefined || Array.isArray(value) || isFields(value)) return undefined;
  const text = numberText(value);
  return text === undefined ? undefined : Number(text);
}

function pairsOf(operand: Matchable): Matchable[][] {
  if (!Array.isArray(operand)) return [];
  const starts = operand.flatMap((_, index) => (index % 2 === 0 ? [index] : []));
  return starts.map((start) => operand.slice(start, start + 2));
}

const anythingBut: Operator = {
  problem: (operand) => {
    const shape = "must be a value, a list of texts or numbers, or one of prefix, suffix, equals-ignore-case, wildcard";
    if (isOperation(operand)) {
      const [name = "", inner = null] = Object.entries(operand)[0] ?? [];
      return isTextOperator(name) ? textOperators[name].problem(inner) : shape;
    }
    const values = Array.isArray(operand) ? operand : [operand];
    const isRight = values.every((value) => typeof value === "string" || numberOf(value) !== undefined);
    return values.length > 0 && isRight ? undefined : shape;
  },
  fits: (operand, leaf) => {
    if (!isOperation(operand)) return ![operand].flat().some((value) => isSameLeaf(value as Leaf, leaf));
    return !Object.entries(operand).some(
      ([name, inner]) => isTextOperator(name) && textOperators[name].fits(inner, leaf),
    );
  },
};

/** Whether there is a value at all is for the caller: this one only sees values. */
const exists: Operator = {
  problem: (operand) => (typeof operand === "boolean" ? undefined : "must be true or false"),
  fits: (operand) => operand === true,
};

const operators = { ...textOperators, "anything-but": anythingBut, numeric, exists };

export const operatorNames = Object.keys(operators);

export function operatorOf(name: string): Operator | undefined {
  return Object.hasOwn(operators, name) ? operators[name as keyof typeof operators] : undefined;
}

function isTextOperator(name: string): name is keyof typeof textOperators {
  return Object.hasOwn(textOperators, name);
}

/** An object with one field, the operator's name. */
export function isOperation(value: Matchable): value is { [name: string]: Matchable } {
  return isFields(value) && Object.keys(value).length === 1;
}
