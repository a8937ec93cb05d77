import { z } from "zod";
import { dotPathPattern } from "../template/dot-path.ts";

/**
 * The pieces that several authored schemas share. `error` completes the sentence "<field> ...", as a finding says it;
 * the description is what editors and docs/definition.md show.
 */

/** Also a Step Functions state name, a file name and a Python-friendly word, hence the narrow alphabet. */
export const idPattern = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/;

const idError = "must be 1 to 64 letters, digits, _ or -, and begin with a letter";

export const NodeId = z.string({ error: idError }).regex(idPattern, { error: idError });

export const text = (description: string) => z.string({ error: "must be a text" }).describe(description);

export const filledText = (description: string) =>
  z.string({ error: "must be a text" }).regex(/\S/, { error: "must not be empty" }).describe(description);

/** `integer` where the number ends up in ASL, which takes whole seconds only. */
export function seconds(range: { min: number; max: number; integer?: boolean }, description: string) {
  const error = `must be ${range.integer ? "whole " : ""}seconds from ${range.min} to ${range.max}`;
  const number = range.integer ? z.int({ error }) : z.number({ error });
  return number.min(range.min, { error }).max(range.max, { error }).describe(description);
}

export const flag = (description: string) => z.boolean({ error: "must be true or false" }).describe(description);

/** What every node has, whatever its kind. */
export const nodeFields = {
  id: NodeId.describe(
    "Name of the node in edges, in `outputs`, in the chain of work and in the Step Functions console: " +
      "a letter, then letters, digits, `_` or `-`, at most 64 in all.",
  ),
  name: text("A title for people.").optional(),
  description: text("What the node is for; becomes the comment of its state.").optional(),
};

/** Of nodes that may have several edges out. */
export const fanOutFields = {
  merge: z
    .enum(["last", "collect"], { error: 'must be "last" or "collect", or be left out' })
    .describe(
      "Of a node with several edges out: what becomes of a key that several branches set. Absent: the values are equal, or the join fails. " +
        "`last`: the branch of the last edge wins. `collect`: a list of the values, in the order of the edges.",
    )
    .optional(),
};

const keyError = "must be a key: a letter or _, then letters, digits, _ or -, at most 128 in all";

export const contextKeyPattern = /^[\p{L}_][\p{L}\p{N}_-]{0,127}$/u;

/** A key of the context that a node sets by itself. */
export const contextKey = (description: string) =>
  z.string({ error: keyError }).regex(contextKeyPattern, { error: keyError }).describe(description);

const pathError = "must be a dot path such as email.attachments";

export const dotPath = (description: string) =>
  z.string({ error: pathError }).regex(dotPathPattern, { error: pathError }).describe(description);
