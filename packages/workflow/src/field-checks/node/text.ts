import { isConfig, textFieldNames } from "../../authored/text.ts";
import { type Finding, finding } from "../../findings/finding.ts";
import { at } from "../../findings/text.ts";
import type { WrittenPlace } from "../../findings/written.ts";
import { isObject } from "../../json/value.ts";
import { checkAnswerSchema, checkOutOfPlace, checkOwnKey, type FieldCheck, type FieldPlace } from "./field-check.ts";

export const checkText: FieldCheck = function* (node, place) {
  const wayOut = "is for nodes that run code, and a text node only asks a model - remove it";
  yield* checkOutOfPlace("NOVA421", ["effects", "credentials", "isolation", "network", "ai"], wayOut, [node, place]);
  yield* checkModel(node, place);
  yield* checkAnswer(node, place);
  yield* checkOwnKey(node, place);
};

/** Reports settings of text nodes at other nodes. */
export const checkNoText: FieldCheck = function* (node, place) {
  const wayOut = 'is for text nodes, and would do nothing here - remove it, or add "executor": "text"';
  yield* checkOutOfPlace("NOVA421", textFieldNames, wayOut, [node, place]);
  if (!isObject(node.model) || !isConfig(node.model)) return;
  const message = `${place.name}: model has settings that only text nodes take - write the id of the model, or ids by role`;
  yield finding("NOVA440", at(place.path, "model"), message);
};

function* checkModel({ model, llm_config }: Record<string, unknown>, { name, path }: WrittenPlace): Iterable<Finding> {
  if (model !== undefined && llm_config !== undefined) {
    const message = `${name} has both model and llm_config - keep one of them`;
    yield finding("NOVA440", at(path, "llm_config"), message);
  }
  if (!isObject(model) || isConfig(model) || model.text !== undefined) return;
  const message = `${name}: model names only roles of code-writing nodes - write its id, such as "gpt-6.1-terra"`;
  yield finding("NOVA440", at(path, "model"), message);
}

function* checkAnswer(node: Record<string, unknown>, { name, path, exactly }: FieldPlace): Iterable<Finding> {
  const { output_schema: schema, type } = node;
  if (!isObject(schema)) return;
  const place = at(path, "output_schema");
  if (typeof type === "string" && type.toLowerCase().startsWith("decision")) {
    const message = `${name}: output_schema does nothing at a decision, whose answer is one of its edges - remove it`;
    yield finding("NOVA441", place, message);
  } else if (schema.type !== "object") {
    const message = `${name}: output_schema must have "type": "object" - put other values into a property`;
    yield finding("NOVA441", place, message);
  }
  yield* checkAnswerSchema("NOVA441", exactly(place), `${name}: output_schema`, place);
}
