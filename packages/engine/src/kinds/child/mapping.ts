import type { Context, Slot } from "../../context/context.ts";
import { findValue, type LoadJson } from "../../context/find-value.ts";
import { type Member, objectText } from "../../json/text.ts";
import { decisionKey } from "../../protocol/merge-branches.ts";

/** Instead of a path: all that there is. */
const whole = "$";

/** From which context values are taken, and what must not leave it. */
export interface Source {
  /** `the context`, `the last context of workflow "billing"`: how a sentence names it. */
  title: string;
  context: Context;
  /** Keys that are secret there. */
  secrets: ReadonlySet<string>;
  load: LoadJson;
}

/** Values for the keys of a mapping; `maySee`: keys that are secret on the other side as well. */
export async function mapped(
  mapping: Readonly<Record<string, string>>,
  source: Source,
  maySee: ReadonlySet<string>,
): Promise<Member[] | { problem: string }> {
  const members: Member[] = [];
  for (const [key, path] of Object.entries(mapping)) {
    const secret = secretOn(path, source);
    if (secret !== undefined && !maySee.has(key)) {
      const advice = `mark "${key}" with "secret": true in the inputs of the workflow that takes it, or leave it out`;
      return { problem: `"${key}" takes the secret "${secret}" from ${source.title} - ${advice}` };
    }
    const json =
      path === whole
        ? objectText(wholeMembers(source, maySee.has(key) ? source.secrets : new Set()))
        : await findValue(source.context, path, source.load);
    if (json === undefined) {
      const advice = "set it before, or correct the path";
      return { problem: `"${key}" takes "${path}" from ${source.title}, which is not there - ${advice}` };
    }
    members.push({ key, json });
  }
  return members;
}

/** All keys under their own names; secrets only where they are secret on the other side too. */
export function wholeMembers(
  { context, secrets }: Pick<Source, "context" | "secrets">,
  maySee: ReadonlySet<string>,
): Slot[] {
  return context.slots().filter(({ key }) => key !== decisionKey && (!secrets.has(key) || maySee.has(key)));
}

function secretOn(path: string, { secrets }: Source): string | undefined {
  return [...secrets].find((key) => path === key || path.startsWith(`${key}.`));
}
