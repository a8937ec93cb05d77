import { RawJson } from "@nova/engine";
import { slugOf, textOfJson, type WrittenJson } from "@nova/workflow";
import { z } from "zod";

/** Creates the schema of an object, which the OpenAPI document lists under its own name. */
export function named<Shape extends z.ZodRawShape>(id: string, shape: Shape): z.ZodObject<Shape> {
  return z.object(shape).meta({ id });
}

/** Schema of an object that stays JSON text, so that its numbers keep their digits. */
export const ExactObject = z
  .custom<RawJson>((value) => value instanceof RawJson && value.text.startsWith("{"), "it has to be a JSON object")
  .meta({ override: { type: "object", additionalProperties: true } });

/** An `ExactObject` that may be absent; null counts as absent. */
export const OptionalExactObject = z
  .custom<RawJson>(
    (value) => value instanceof RawJson && /^(\{|null$)/.test(value.text),
    "it has to be a JSON object, or left out",
  )
  .meta({ override: { type: ["object", "null"], additionalProperties: true } })
  .optional()
  .transform((value) => (value?.text === "null" ? undefined : value));

export const ExactValue = z
  .custom<RawJson>((value) => value instanceof RawJson)
  .meta({ override: { type: ["object", "array", "string", "number", "boolean", "null"] } });

/** Converts JSON of a definition for an answer. Numbers keep the digits that their author wrote. */
export function exactJson(written: WrittenJson): RawJson {
  return new RawJson(textOfJson(written));
}

/** A context in an answer. Its numbers have all their digits, so a caller needs a JSON parser that keeps the digits. */
export const Context = z.record(z.string(), z.unknown());

export const Time = z.iso.datetime();

/** A date, or a time with a time zone, in a query. */
export const Moment = z.union(
  [z.iso.datetime({ offset: true }), z.iso.date()],
  "it has to be a date or a time with its zone, such as 2026-11-22 or 2026-11-22T09:30:00Z",
);

/** Returns the time of a `Moment` in UTC. For a date, this is the end of the day. */
export function endOf(moment: string): string {
  return moment.includes("T") ? new Date(moment).toISOString() : `${moment}T23:59:59.999Z`;
}

/** Id of a workflow, in the form that the compiler gives it. */
export const WorkflowId = z.string().regex(/^[a-z0-9][a-z0-9-]{0,63}$/, slugRule(64));
export const ExecutionId = z.string().regex(/^exec_[0-9A-HJKMNP-TV-Z]{26}$/);
export const TaskId = z.string().regex(/^task_[0-9A-HJKMNP-TV-Z]{26}$/);
export const UploadId = z.string().regex(/^upl_[0-9A-HJKMNP-TV-Z]{26}$/);
export const SessionId = z.string().regex(/^ses_[0-9A-HJKMNP-TV-Z]{26}$/);
export const KeyId = z.string().regex(/^key_[0-9A-HJKMNP-TV-Z]{26}$/);
export const Slug = z.string().regex(/^[a-z0-9][a-z0-9-]{0,62}$/, slugRule(63));
/** A name that people read. It has no control characters, because these can change the state of a terminal. */
export const Name = z
  .string()
  .regex(/^[ -~\u00a0-\uffff]{1,200}$/, "it has to have 1 to 200 characters, none of which steers a terminal");
export const VersionNumber = z.int().min(1).max(1_000_000_000);

function slugRule(longest: number) {
  const rule = `it has to be lower-case letters, digits and dashes, at most ${longest}, with no dash first`;
  return {
    error({ input }: { input?: unknown }) {
      const near = typeof input === "string" ? slugOf(input.slice(0, 200)).slice(0, longest) : "";
      return near === "" ? rule : `${rule} - such as "${near}"`;
    },
  };
}

/** Builds the schema of a whole number in a path or a query. */
export function wholeNumber(minimum: number, maximum: number) {
  return z
    .string()
    .regex(/^\d{1,10}$/, "it has to be a whole number")
    .transform(Number)
    .refine((number) => number >= minimum && number <= maximum, `it has to be from ${minimum} to ${maximum}`)
    .meta({
      override({ jsonSchema }) {
        delete jsonSchema.pattern;
        Object.assign(jsonSchema, { type: "integer", minimum, maximum });
      },
    });
}

/**
 * The maximum number of seconds that a request may wait for its result: less than the 30 seconds that API Gateway's
 * HTTP API waits for a Lambda.
 */
export const longestWaitSeconds = 25;

export function waitQueryOf(description: string) {
  return z.strictObject({ wait: wholeNumber(0, longestWaitSeconds).optional().meta({ description }) });
}

/** `?full` without a value means true. */
export const Flag = z
  .enum(["", "true", "false"])
  .transform((text) => text !== "false")
  .meta({ override: { type: "string", enum: ["", "true", "false"] } });

type Camel<Name extends string> = Name extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<Camel<Tail>>}`
  : Name;

/**
 * The members that `viewOf` reads from a record. Their names are the names of the schema's fields in camel case,
 * without the fields in `own`.
 */
type Shown<Fields, Own> = {
  [Name in keyof Fields & string as Name extends keyof Own ? never : Camel<Name>]: unknown;
};

type Optional<T> = {
  [Name in keyof T as undefined extends T[Name] ? never : null extends T[Name] ? never : Name]: T[Name];
};

/**
 * Converts a record to the form of a schema. The value of a field comes from `own`, or from the record's member with
 * the same name in camel case. An absent value becomes null if the schema allows null; otherwise the field is omitted.
 */
export function viewOf<S extends z.ZodObject, Own extends Partial<Record<keyof z.output<S>, unknown>>>(
  schema: S,
  record: Shown<Optional<z.output<S>>, Own>,
  own: Own = {} as Own,
): { [Name in keyof z.output<S>]: z.output<S>[Name] } {
  const members = { ...(record as Record<string, unknown>) };
  const fields = Object.entries(schema.shape).map(([name, field]) => {
    const value = name in own ? own[name as keyof Own] : members[camelCase(name)];
    return [name, value ?? (field.safeParse(null).success ? null : undefined)];
  });
  return Object.fromEntries(fields.filter(([, value]) => value !== undefined));
}

/** Returns the members of a request's body with their names in camel case, without the members whose value is null. */
export function sentIn(body: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(body).flatMap(([name, value]) => (value === null ? [] : [[camelCase(name), value]])),
  );
}

function camelCase(name: string): string {
  return name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
}

/**
 * The maximum number of simultaneous runs that a quota may allow. One item of the table holds all slots of the quota,
 * and the size of an item is limited.
 */
const maxSlots = 1000;

export const Slots = z.int().min(1).max(maxSlots).nullable().optional();

export const Finding = named("Finding", {
  code: z.string().meta({ example: "NOVA404" }),
  severity: z.enum(["error", "warning"]),
  path: z.string().meta({ description: "JSON path into the definition", example: "$.nodes[2].timeout" }),
  message: z.string(),
  file: z.string().optional(),
  line: z.int().optional(),
  column: z.int().optional(),
});

/** The description of an error, as in RFC 9457. */
export const Problem = named("Problem", {
  type: z.string(),
  title: z.string(),
  status: z.int(),
  detail: z.string().describe("one sentence: the problem, and the way out"),
  findings: z.array(Finding).optional(),
  errors: z.array(z.object({ path: z.string(), message: z.string() })).optional(),
});
