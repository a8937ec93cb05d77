import { isPrompt } from "../../authored/executor-kind.ts";
import { finding } from "../../findings/finding.ts";
import { at } from "../../findings/path.ts";
import { didYouMean } from "../../findings/suggest.ts";
import { isObject } from "../../json/loose.ts";
import { earlierErrorNames, mostPromptAttempts, retriedError, retriedErrors } from "../../retry.ts";
import { runErrors } from "../../run-errors.ts";
import type { FieldCheck, NodePlace } from "./field-check.ts";
import { knownErrors } from "./known-errors.ts";

export const checkRetry: FieldCheck = function* ({ retry, effects, executor }, { name, path }) {
  if (!isObject(retry)) return;
  const place = { name, path: at(path, "retry") };
  if (effects === true) {
    const message = `${name}: "effects": true says that code which began never runs again, and retry that it does - remove one of them; without effects the code may be run again, each time with the same NOVA_IDEMPOTENCY_KEY`;
    yield finding("NOVA407", place.path, message);
  }
  if (isPrompt(executor) && typeof retry.attempts === "number" && retry.attempts > mostPromptAttempts) {
    const message = `${name}: retry.attempts of a prompt node must be at most ${mostPromptAttempts}, not ${retry.attempts}: each asks models up to three times`;
    yield finding("NOVA104", at(place.path, "attempts"), message);
  }
  for (const [i, entry] of Array.isArray(retry.on) ? retry.on.entries() : []) {
    if (typeof entry === "string") yield* checkEntry(entry, { name, path: at(place.path, "on", i) });
  }
};

const ownNames = [...retriedErrors, ...Object.keys(earlierErrorNames)];

function* checkEntry(entry: string, { name: node, path }: NodePlace) {
  const { name } = retriedError(entry);
  const last = name.split(".").at(-1) as string;
  if (Object.hasOwn(runErrors, name) && !ownNames.includes(name) && name !== "SandboxUnavailable") {
    const message = `${node}: ${name} ends a node for good, and retry.on cannot name it - the classes are ${retriedErrors.join(", ")}`;
    yield finding("NOVA104", path, message);
  } else if (!/^[A-Za-z_]\w*(\.[A-Za-z_]\w*)*$/.test(name)) {
    const message = `${node}: "${entry}" in retry.on must begin with the name of an error, such as "HTTPError 503" or "NodeTimeout"`;
    yield finding("NOVA104", path, message);
  } else if (!knownErrors.includes(last) && !ownNames.includes(name)) {
    const meant = didYouMean(last, name === last ? [...ownNames, ...knownErrors] : knownErrors);
    // A class of the workflow's own, or of a library, may have any name, but seldom one that is nearly another's.
    if (meant === "" && (name !== last || /^[A-Z]/.test(name))) return;
    const wayOut = meant || " - name an exception's class, or one of NOVA's error classes";
    yield finding("NOVA429", path, `${node}: "${name}" in retry.on is the name of no known error${wayOut}`);
  }
}
