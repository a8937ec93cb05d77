import type { TextTask } from "@nova/engine";
import { checkData, conditionLabel, defaultLabel, objectOf, type TextExecutor, type WrittenJson } from "@nova/workflow";
import type { AnswerFormat } from "../model/models.ts";
import { type ReadResult, readObject, readText } from "../model/read-answer.ts";

export interface AnswerForm {
  /** Describes the form to the model, after the author's text. */
  instruction: string;
  format: AnswerFormat<string>;
  /** Returns the keys that the answer, a JSON text, sets. */
  set(json: string): { key: string; json: string }[];
}

export function answerFormOf({ node, edges }: Pick<TextTask, "node" | "edges">, executor: TextExecutor): AnswerForm {
  const { outputSchema, into } = executor;
  const set = (json: string) => [{ key: into, json }];
  if (node.type === "decision") return decisionForm(edges, into);
  if (!outputSchema) return { instruction: "", format: { read: async (answer) => readText(answer) }, set };
  return {
    instruction: "Answer with one JSON object.",
    format: { name: "answer", json: objectOf(outputSchema), read: (answer) => readData(answer, outputSchema) },
    set,
  };
}

async function readData(answer: string, schema: WrittenJson): Promise<ReadResult<string>> {
  const read = readObject(answer);
  const problems = read.valid ? await checkData(schema, read.value) : [];
  return problems.length > 0 ? { valid: false, problem: problems.join("; ") } : read;
}

type Choices = ReadonlyMap<string, string>;

/** Lets the model choose an edge by name, and sets the edge's value. */
function decisionForm(edges: TextTask["edges"], into: string): AnswerForm {
  const values = edges.map(({ condition = defaultLabel }) => condition);
  const choices: Choices = new Map(values.map((value) => [conditionLabel(value), JSON.stringify(value)]));
  const names = [...choices.keys()];
  const property = { type: "string", enum: names };
  return {
    instruction: `Answer with one JSON object whose branch_decision is one of ${names.map((name) => JSON.stringify(name)).join(", ")}.${choices.has(defaultLabel) ? ` "${defaultLabel}" is for what none of the others fits.` : ""}`,
    format: {
      name: "decision",
      json: {
        type: "object",
        properties: { branch_decision: property },
        required: ["branch_decision"],
        additionalProperties: false,
      },
      read: async (answer) => readChoice(answer, choices),
    },
    set: (json) => [
      { key: "branch_decision", json },
      { key: into, json },
    ],
  };
}

function readChoice(answer: string, choices: Choices): ReadResult<string> {
  const read = readObject(answer);
  if (!read.valid) return read;
  const { branch_decision: name } = JSON.parse(read.value) as { branch_decision?: unknown };
  const value = choices.get(String(name));
  if (value !== undefined) return { valid: true, value };
  const names = [...choices.keys()].map((one) => JSON.stringify(one)).join(", ");
  return { valid: false, problem: `branch_decision is none of ${names}` };
}
