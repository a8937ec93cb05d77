import { FORMAT } from "../dynamodb/format.ts";
import { triggerFormats } from "../dynamodb/triggers.ts";

/** Formats of one kind of item: what is written today, and all that is read. */
export interface KnownFormats {
  writes: number;
  reads: readonly number[];
}

const first: KnownFormats = { writes: FORMAT, reads: [FORMAT] };

/** Every kind of item in the table, as `kindOf` names it. */
export const knownFormats: Readonly<Record<string, KnownFormats>> = {
  attempt: first,
  audit: first,
  client: first,
  credential: first,
  delivery: first,
  execution: first,
  generation: first,
  key: first,
  link: first,
  pool: first,
  publication: first,
  rate: first,
  slots: first,
  spending: first,
  stats: first,
  step: first,
  task: first,
  ticket: first,
  token: first,
  trigger: triggerFormats,
  upload: first,
  version: first,
  wake: first,
  "wake-shape": first,
  "kept-event": first,
  "resume-link": first,
  "workflow-state": first,
};
