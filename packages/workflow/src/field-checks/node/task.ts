import { isPrompt } from "../../authored/executor-kind.ts";
import { finding } from "../../findings/finding.ts";
import { at } from "../../findings/path.ts";
import { longestPromptSeconds } from "../../long-node.ts";
import { checkPorts } from "../ports.ts";
import type { FieldCheck } from "./field-check.ts";
import { checkRetry } from "./retry.ts";

/** What the settings of an action or a decision mean depends on who writes its code. */
export const checkTask: FieldCheck = function* (node, place) {
  yield* checkRetry(node, place);
  yield* isPrompt(node.executor) ? checkPrompt(node, place) : checkCode(node, place);
  yield* checkPorts(node.network, place.name, (index) => at(place.path, "network", "allow", index));
};

const checkPrompt: FieldCheck = function* ({ timeout }, { name, path }) {
  if (typeof timeout === "number" && timeout > longestPromptSeconds) {
    const message = `${name}: timeout of a prompt node must be seconds from 1 to ${longestPromptSeconds}, not ${timeout}`;
    yield finding("NOVA406", at(path, "timeout"), message);
  }
};

const checkCode: FieldCheck = function* (node, place) {
  for (const field of ["limits", "ai"].filter((field) => node[field] !== undefined)) {
    const message = `${place.name}: ${field} is for prompt nodes, and would do nothing here - remove it, or add "executor": "prompt"`;
    yield finding("NOVA421", at(place.path, field), message);
  }
};
