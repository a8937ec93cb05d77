import type { TextTask } from "@nova/engine";
import { checkData, conditionLabel, defaultLabel, parseExact, type TextExecutor } from "@nova/workflow";
import type { AnswerFormat } from "../model/models.ts";
import { objectTextIn, type Read } from "../model/read-answer.ts";

export interface AnswerForm {
  /** What the model is told of it, behind the author's words. */
  told: string;
  format: AnswerFormat<string>;
  /** Why a value that has the format does not do; null where it does. */
  problemOf(json: string): Promise<string | null>;
  /** What the value, JSON text, sets. */
  set(json: string): { key: string; json: string }[];
}

export function answerFormOf({ node, edges }: Pick<TextTask, "node" | "edges">, executor: TextExecutor): AnswerForm {
  const { outputSchema, into } = executor;
  const set = (json: string) => [{ key: into, json }];
  const isFine = async () => null;
  if (node.type === "decision") return choiceOf(edges, into);
  if (!outputSchema) return { told: "", format: { read: readText }, problemOf: isFine, set };
  return {
    told: "Answer with one JSON object.",
    format: { name: "answer", json: outputSchema, read: readObject },
    problemOf: async (json) => (await checkData(outputSchema, json)).join("; ") || null,
    set,
  };
}

type Choices = ReadonlyMap<string, string>;

/** One of the edges, by name; what is set is the edge's own value. */
function choiceOf(edges: TextTask["edges"], into: string): AnswerForm {
  const values = edges.map(({ condition = defaultLabel }) => condition);
  const choices: Choices = new Map(values.map((value) => [conditionLabel(value), JSON.stringify(value)]));
  const names = [...choices.keys()];
  const property = { type: "string", enum: names };
  return {
    told: `Answer with one JSON object whose branch_decision is one of ${names.map((name) => JSON.stringify(name)).join(", ")}.${choices.has(defaultLabel) ? ` "${defaultLabel}" is for what none of the others fits.` : ""}`,
    format: {
      name: "decision",
      json: {
        ...{ type: "object", properties: { branch_decision: property } },
        ...{ required: ["branch_decision"], additionalProperties: false },
      },
      read: (text) => readChoice(text, choices),
    },
    problemOf: async () => null,
    set: (json) => [
      { key: "branch_decision", json },
      { key: into, json },
    ],
  };
}

function readText(answer: string): Read<string> {
  if (answer.trim() === "") return { valid: false, problem: "it is empty" };
  return { valid: true, value: JSON.stringify(answer.toWellFormed()) };
}

/** The object's JSON text, numbers as the model wrote them. */
function readObject(answer: string): Read<string> {
  const text = objectTextIn(answer);
  if (text === null) return { valid: false, problem: "there is no JSON object in it" };
  return { valid: true, value: JSON.stringify(parseExact(text)).toWellFormed() };
}

function readChoice(answer: string, choices: Choices): Read<string> {
  const read = readObject(answer);
  if (!read.valid) return read;
  const { branch_decision: name } = JSON.parse(read.value) as { branch_decision?: unknown };
  const value = choices.get(String(name));
  if (value !== undefined) return { valid: true, value };
  const names = [...choices.keys()].map((one) => JSON.stringify(one)).join(", ");
  return { valid: false, problem: `branch_decision is none of ${names}` };
}
