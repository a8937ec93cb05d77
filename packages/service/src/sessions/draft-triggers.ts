import { type Trigger, type Workflow, writeTriggers } from "@nova/workflow";
import { Forbidden, Refused } from "../errors.ts";
import type { Principal } from "../ports/index.ts";
import type { Draft } from "../ports/sessions.ts";
import { canSeeTrigger } from "../workflows/find.ts";

type Settings = Draft["settings"];

/**
 * Returns the triggers of a workflow, and the receivers of its failures, as settings of a draft. Numbers in them are
 * rounded to JavaScript's doubles.
 */
export function settingsOfTriggers(workflow: Pick<Workflow, "triggers" | "onFailure">): Settings {
  return JSON.parse(JSON.stringify(writeTriggers(workflow)));
}

/**
 * Restores the exact digits of numbers in triggers. It does so only for triggers that equal a trigger of the published
 * workflow.
 */
export function restoreDigits(settings: Settings, published: Workflow | undefined): Settings {
  const written = (published && (writeTriggers(published).triggers as object[] | undefined)) ?? [];
  const exact = new Map(written.map((one) => [JSON.stringify(JSON.parse(JSON.stringify(one))), one]));
  const { triggers } = settings;
  if (!Array.isArray(triggers)) return settings;
  return { ...settings, triggers: triggers.map((one) => exact.get(JSON.stringify(one)) ?? one) };
}

/** Removes the settings that a key of one client may not see: triggers of other clients, and receivers of failures. */
export function redactSettings(by: Principal, settings: Settings): Settings {
  if (by.client === null) return settings;
  const { on_failure: _, triggers, ...shared } = settings;
  return { ...shared, ...(triggers !== undefined && { triggers: listTriggers(triggers).filter(isSeenBy(by)) }) };
}

/**
 * Adds to the settings `after` the parts of the settings `before` that the caller cannot see, so that these parts stay.
 * Triggers that a key of one client adds are for this client. Throws `Forbidden`, `Refused`.
 */
export function withUnseen(by: Principal, before: Settings, after: Settings): Settings {
  const { client } = by;
  if (client === null) return after;
  if (after.on_failure !== undefined)
    throw new Forbidden(`"on_failure" is for the runs of all clients - set it with a key for all clients`);
  const { triggers = [] } = after;
  if (!Array.isArray(triggers) || listTriggers(triggers).length < triggers.length)
    throw new Refused(`"triggers" is not a list of objects - write each trigger as an object`);
  // A mail trigger has no client of its own, because the address of each mail names the client.
  const own = listTriggers(triggers).map((one) => (one.type === "mail" ? one : { client, ...one }));
  if (!own.every(isSeenBy(by)))
    throw new Forbidden(
      `a key of one client adds only triggers with "client": "${client}" - use a key for all clients`,
    );
  const all = [...own, ...listTriggers(before.triggers).filter((one) => !isSeenBy(by)(one))];
  return {
    ...after,
    ...(before.on_failure !== undefined && { on_failure: before.on_failure }),
    ...((after.triggers !== undefined || all.length > 0) && { triggers: all }),
  };
}

type WrittenTrigger = Readonly<Record<string, unknown>>;

function listTriggers(triggers: unknown): WrittenTrigger[] {
  return Array.isArray(triggers) ? triggers.filter((one) => typeof one === "object" && one !== null) : [];
}

function isSeenBy(by: Principal): (trigger: WrittenTrigger) => boolean {
  return (trigger) => canSeeTrigger(by, trigger as unknown as Trigger);
}
