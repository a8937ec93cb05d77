import { finding } from "../../findings/finding.ts";
import { at } from "../../findings/path.ts";
import type { FieldCheck } from "./field-check.ts";

/** Of code written by hand; a prompt node takes none at all. */
export const checkRetry: FieldCheck = function* ({ retry, effects }, { name, path }) {
  if (retry === undefined || effects === false) return;
  const message = `${name}: retry may run its effects twice - add "effects": false if its code changes nothing outside, or remove retry`;
  yield finding("NOVA407", at(path, "retry"), message);
};
