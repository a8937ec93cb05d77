import type { z } from "zod";
import type { Finding, FindingCode } from "../../findings/finding.ts";
import type { WrittenJson } from "../../json/keeping-digits.ts";
import type { Trigger, TriggerType } from "../../trigger.ts";

/** Where a trigger is, and what a sentence about it begins with. */
export interface TriggerPlace {
  /** `trigger "nightly"`. */
  name: string;
  path: string;
}

/** One kind of trigger. A new kind is a new file that exports one of these, plus a line in `triggerKinds`. */
export interface TriggerKind<Schema extends z.ZodObject = z.ZodObject> {
  type: TriggerType;
  schema: Schema;
  /** Fields whose wrong values have a code of their own. */
  codes: Partial<Record<string, FindingCode>>;
  /** `exactly`: an object in a field, with its numbers as they were written. */
  normalise(authored: z.output<Schema>, id: string, exactly: (field: string) => WrittenJson): Trigger;
  /** What no schema says: looks at it as it was written, and trusts no field. */
  check?(written: Record<string, unknown>, place: TriggerPlace): Iterable<Finding>;
}
