import { isFields, type Matchable, type MatchableObject } from "./leaf.ts";
import { isOperation, operatorNames, operatorOf } from "./operators.ts";

export interface PatternProblem {
  segments: (string | number)[];
  /** Completes a sentence about the pattern. */
  message: string;
}

/** Why an object is no event pattern; nothing where it is one. */
export function* checkPattern(
  pattern: MatchableObject,
  segments: PatternProblem["segments"] = [],
): Iterable<PatternProblem> {
  const fields = Object.entries(pattern);
  if (fields.length === 0) yield { segments, message: 'names no field - write one, such as "source": ["shop"]' };
  for (const [name, wanted] of fields) yield* checkWanted(name, wanted, [...segments, name]);
}

function* checkWanted(name: string, wanted: Matchable, segments: PatternProblem["segments"]): Iterable<PatternProblem> {
  if (Array.isArray(wanted)) {
    if (wanted.length === 0) yield { segments, message: `"${name}" lists no value - add one` };
    for (const [index, one] of wanted.entries()) yield* checkValue(one, [...segments, index]);
  } else if (isFields(wanted)) yield* checkPattern(wanted, segments);
  else
    yield {
      segments,
      message: `"${name}" has a value by itself - write a list of values: [${JSON.stringify(wanted)}]`,
    };
}

function* checkValue(value: Matchable, segments: PatternProblem["segments"]): Iterable<PatternProblem> {
  if (!Array.isArray(value) && !isFields(value)) return;
  if (!isOperation(value)) {
    yield { segments, message: `has a value that is no text, number, true, false, null or operator - ${operatorsAre}` };
    return;
  }
  const [name = "", operand = null] = Object.entries(value)[0] ?? [];
  const operator = operatorOf(name);
  const problem = operator?.problem(operand);
  if (!operator)
    yield { segments: [...segments, name], message: `has the unknown operator "${name}" - ${operatorsAre}` };
  else if (problem)
    yield { segments: [...segments, name], message: `has an operator with a wrong value - ${name} ${problem}` };
}

const operatorsAre = `the operators are ${operatorNames.join(", ")}`;
