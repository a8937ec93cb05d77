import { z } from "zod";
import { at, type Finding, finding, formatValue } from "../findings/finding.ts";
import { isObject, type Loose } from "../json/exact.ts";
import type { Approvers } from "../workflow.ts";
import type { FieldPlace } from "./field-check.ts";
import { filledText, numberBetween } from "./fields.ts";
import { isMailAddress } from "./on-failure.ts";

/** Maximum number of people, roles and groups that an approval names. The record of its task contains all of them. */
const maxNamed = 100;
/** Maximum number of different people who must vote. */
const maxCount = 50;

const list = { error: 'must be a list such as ["cfo@example.com", "role:finance", "group:audit"]' };
const excluded = { error: 'must be a list such as ["starter", "ask_hr"]' };

export const AuthoredApprovers = z.strictObject(
  {
    any: z
      .array(filledText("A mail address, a role such as `role:finance`, or a group such as `group:audit`."), list)
      .min(1, { error: "must name at least one person, role or group" })
      .refine(({ length }) => length <= maxNamed, { error: `must name at most ${maxNamed} people, roles and groups` })
      .describe("Names the people who may answer: mail addresses, `role:<name>` and `group:<name>`."),
    count: numberBetween("whole", 1, maxCount)
      .describe("How many different people must make the same choice.")
      .prefault(1),
    not: z
      .array(filledText("`starter`, or the id of another approval."), excluded)
      .refine(({ length }) => length <= maxNamed, { error: `must name at most ${maxNamed} nodes` })
      .describe(
        "Excludes people: `starter` is the person who started the run, and the id of another approval stands for everyone who voted there.",
      )
      .prefault([]),
  },
  { error: 'must be an object such as { "any": ["cfo@example.com"] }' },
);

export function approversOf({ any, count, not }: z.output<typeof AuthoredApprovers>): Approvers {
  return { any: [...new Set(any.map(normalApprover))], count, not: [...new Set(not)] };
}

/**
 * Returns an approver in the form in which NOVA compares approvers: a mail address in lower case, and a role or a group
 * as it is written.
 */
function normalApprover(written: string): string {
  return isNamedPerson(written) ? written.toLowerCase() : written;
}

/** Returns whether an approver is one person. A role or a group may have any number of people. */
export function isNamedPerson(approver: string): boolean {
  return !roleOrGroup.test(approver);
}

const roleOrGroup = /^(role|group):/;
const usable = /^(role|group):(?! )[^\p{C}]{1,255}(?<! )$/u;

/** The word in `not` for the person who started the run. */
export const starterMark = "starter";

export function* checkApprovers(approvers: unknown, { name, path }: FieldPlace): Iterable<Finding> {
  if (!isObject(approvers) || !Array.isArray(approvers.any)) return;
  for (const [index, written] of approvers.any.entries()) {
    if (typeof written !== "string" || written.trim() === "" || canExist(written)) continue;
    const message = `${name}: approver ${formatValue(written)} cannot exist - write a mail address, "role:<name>" or "group:<name>"`;
    yield finding("NOVA431", at(path, "approvers", "any", index), message);
  }
  yield* checkCount(approvers, approvers.any, { name, path });
}

function canExist(written: string): boolean {
  return isNamedPerson(written) ? isMailAddress(written) : usable.test(written);
}

function* checkCount({ count }: Loose, any: readonly unknown[], { name, path }: Pick<FieldPlace, "name" | "path">) {
  const named = any.filter((one): one is string => typeof one === "string");
  if (typeof count !== "number" || !named.every(isNamedPerson)) return;
  const { size } = new Set(named.map(normalApprover));
  if (size === 0 || count <= size) return;
  const people = size === 1 ? "1 person" : `${size} people`;
  const message = `${name}: ${count} different people must answer, and only ${people} may - name more, or lower count`;
  yield finding("NOVA432", at(path, "approvers", "count"), message);
}
