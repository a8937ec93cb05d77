import type { Ajv2020, FuncKeywordDefinition } from "ajv/dist/2020.js";
import {
  canonicalAt,
  compareDecimals,
  type Decimal,
  decimalOf,
  digitsOf,
  isMultipleOf,
  textAt,
} from "../json/digits.ts";
import { parseExact } from "../json/exact.ts";

/**
 * Replaces the JSON schema keywords that compute with numbers or compare values. They use exact digits: ajv uses
 * doubles, for which 19.99 is no multiple of 0.01, and 2^53 + 1 equals 2^53. Schema and value come from
 * `parseWithDigits`.
 */
export function computeWithDigits(ajv: Ajv2020): void {
  for (const definition of definitions) {
    ajv.removeKeyword(definition.keyword as string);
    ajv.addKeyword(definition);
  }
}

/** The parent of the checked value. */
interface ValueHolder {
  parentData: object;
  parentDataProperty: string | number;
}

interface Problem {
  message: string;
  params: Record<string, unknown>;
}

/** Checks one value and returns its problem. */
type Check = (place: ValueHolder, value: unknown) => Problem | undefined;

/** Defines a keyword. `checkOf` builds its check once per schema, from the object that contains the keyword. */
function keyword(
  name: string,
  checkOf: (schema: object) => Check,
  applies: Pick<FuncKeywordDefinition, "type" | "schemaType"> = {},
): FuncKeywordDefinition {
  return {
    ...applies,
    keyword: name,
    compile(_, schema) {
      const check = checkOf(schema);
      const validate: ReturnType<NonNullable<FuncKeywordDefinition["compile"]>> = (value, place) => {
        const problem = check(place as ValueHolder, value);
        validate.errors = problem ? [{ keyword: name, ...problem }] : [];
        return problem === undefined;
      };
      return validate;
    },
  };
}

function number(name: string, words: string, fits: (value: Decimal, given: Decimal) => boolean): FuncKeywordDefinition {
  const checkOf = (schema: object): Check => {
    const digits = digitsOf(schema, name);
    const given = decimalOf(digits);
    const problem = { message: `must be ${words} ${digits}`, params: { limit: digits } };
    return ({ parentData, parentDataProperty }) =>
      fits(decimalOf(digitsOf(parentData, parentDataProperty)), given) ? undefined : problem;
  };
  return keyword(name, checkOf, { type: "number", schemaType: "number" });
}

const definitions: FuncKeywordDefinition[] = [
  number("minimum", ">=", (value, limit) => compareDecimals(value, limit) >= 0),
  number("maximum", "<=", (value, limit) => compareDecimals(value, limit) <= 0),
  number("exclusiveMinimum", ">", (value, limit) => compareDecimals(value, limit) > 0),
  number("exclusiveMaximum", "<", (value, limit) => compareDecimals(value, limit) < 0),
  number("multipleOf", "multiple of", isMultipleOf),
  keyword("const", (schema) => {
    const wanted = canonicalAt(schema, "const");
    const problem = { message: "must be equal to constant", params: {} };
    return (place, value) => (canonicalOf(place, value) === wanted ? undefined : problem);
  }),
  keyword(
    "enum",
    (schema) => {
      const { enum: values } = schema as { enum: unknown[] };
      const texts = new Set(values.map((_, index) => canonicalAt(values, index)));
      const allowedValues = values.map((_, index) => parseExact(textAt(values, index)));
      const problem = { message: "must be equal to one of the allowed values", params: { allowedValues } };
      return (place, value) => (texts.has(canonicalOf(place, value)) ? undefined : problem);
    },
    { schemaType: "array" },
  ),
  keyword(
    "uniqueItems",
    (schema) => {
      if (!(schema as { uniqueItems: boolean }).uniqueItems) return () => undefined;
      return (_, value) => repeatedItem(value as unknown[]);
    },
    { type: "array", schemaType: "boolean" },
  ),
];

/** For the name of a property ajv gives the place of another value. */
function canonicalOf({ parentData, parentDataProperty }: ValueHolder, value: unknown): string {
  return typeof value === "number" ? canonicalAt(parentData, parentDataProperty) : canonicalAt([value], 0);
}

function repeatedItem(items: unknown[]): Problem | undefined {
  const seen = new Map<string, number>();
  for (const i of items.keys()) {
    const text = canonicalAt(items, i);
    const j = seen.get(text);
    const message = `must NOT have duplicate items (items ## ${j} and ${i} are identical)`;
    if (j !== undefined) return { message, params: { i, j } };
    seen.set(text, i);
  }
  return undefined;
}
