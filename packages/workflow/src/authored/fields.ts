import { z } from "zod";
import { dotPathPattern } from "../template/template.ts";
import type { InputKey } from "../workflow.ts";

/**
 * In this file, `error` completes the sentence "<field> ..." of a finding. Editors and docs/definition.md show
 * `description`.
 */

/** An id is also a Step Functions state name, a file name and a word in Python, so few characters are allowed. */
export const idPattern = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/;

const idError = "must be 1 to 64 letters, digits, _ or -, and begin with a letter";

export const textMatching = (pattern: RegExp, error: string) => z.string({ error }).regex(pattern, { error });

export const NodeId = textMatching(idPattern, idError);

export const text = (description: string) => z.string({ error: "must be a text" }).describe(description);

export const filledText = (description: string) =>
  z.string({ error: "must be a text" }).regex(/\S/, { error: "must not be empty" }).describe(description);

const numberError = (number: "whole" | "any", min: number, max: number) =>
  `must be a ${number === "whole" ? "whole " : ""}number from ${min} to ${max}`;

export function numberBetween(kind: "whole" | "any", min: number, max: number, error = numberError(kind, min, max)) {
  return (kind === "whole" ? z.int({ error }) : z.number({ error })).min(min, { error }).max(max, { error });
}

/**
 * Builds the schema of a number of seconds. `integer`: only whole seconds are allowed, because the Amazon States
 * Language takes no fractions.
 */
export function seconds(range: { min: number; max: number; integer?: boolean }, description: string) {
  const error = `must be ${range.integer ? "whole " : ""}seconds from ${range.min} to ${range.max}`;
  return numberBetween(range.integer ? "whole" : "any", range.min, range.max, error).describe(description);
}

export const flag = (description: string) => z.boolean({ error: "must be true or false" }).describe(description);

export const jsonSchema = (description: string) =>
  z.record(z.string(), z.json(), { error: "must be a JSON schema (an object)" }).describe(description);

export const labelNamePattern = /^[a-z][a-z0-9_-]{0,39}$/;
const maxLabels = 10;
/**
 * The most characters of a label. A longer template is refused. The text that results from a template is cut to this
 * length.
 */
export const longestLabel = 200;

const labelName = textMatching(
  labelNamePattern,
  "must be 1 to 40 small letters, digits, _ or -, and begin with a letter",
);
const labelTemplate = filledText("A template such as `{{order.id}}`.").max(longestLabel, {
  error: `must have at most ${longestLabel} characters`,
});

export const labels = z
  .record(labelName, labelTemplate, { error: 'must be an object such as { "order": "{{order.id}}" }' })
  .refine((all) => Object.keys(all).length <= maxLabels, { error: `must have at most ${maxLabels} labels` })
  .describe(
    `Business keys by which runs are found: a name, and a template over the initial context such as \`{{order.id}}\`; at most ${maxLabels}. A value is cut after ${longestLabel} characters. A label is left out where a value that it names is missing, null or a file.`,
  );

export const eventPattern = (description: string) =>
  z
    .record(z.string(), z.json(), { error: 'must be an event pattern such as { "source": ["shop"] }' })
    .describe(description);

export const nodeFields = {
  id: NodeId.describe(
    "Name of the node in edges, in `outputs`, in the chain of work and in the Step Functions console: " +
      "a letter, then letters, digits, `_` or `-`, at most 64 in all.",
  ),
  name: text("A title for people.").optional(),
  description: text("What the node is for; becomes the comment of its state.").optional(),
};

/** Fields of nodes that may have several outgoing edges. */
export const fanOutFields = {
  merge: z
    .enum(["last", "collect"], { error: 'must be "last" or "collect", or be left out' })
    .describe(
      "For a node with several outgoing edges: how the join merges a key that several branches set. Absent: the values must be equal, or the join fails. " +
        "`last`: the branch of the last edge wins. `collect`: a list of the values, in the order of the edges.",
    )
    .optional(),
};

/** The fields of a node that is a tool of an agent. */
export const toolFields = {
  input_schema: jsonSchema(
    "For a tool of an agent: JSON schema of the arguments, an object. They are the context of the tool.",
  ).optional(),
};

const keyError = "must be a key: a letter or _, then letters, digits, _ or -, at most 128 in all";

export const contextKeyPattern = /^[\p{L}_][\p{L}\p{N}_-]{0,127}$/u;

export const contextKey = (description: string) => textMatching(contextKeyPattern, keyError).describe(description);

const inputKeysError =
  'must be a list of keys such as ["total"], or an object such as { "draft": "write:output", "tone": "style" }';

export const InputKeys = z
  .union(
    [
      z.array(textMatching(contextKeyPattern, keyError)).max(50, { error: "must have at most 50 keys" }),
      z.record(
        textMatching(contextKeyPattern, keyError),
        textMatching(/^[A-Za-z][A-Za-z0-9_-]{0,63}(:.{1,128})?$/u, 'must be "node:key", or the id of a node'),
      ),
    ],
    { error: inputKeysError },
  )
  .transform((written): Record<string, InputKey> => {
    if (Array.isArray(written)) return Object.fromEntries(written.map((key) => [key, { key }]));
    return Object.fromEntries(
      Object.entries(written).map(([name, source]) => {
        const [node = "", ...key] = source.split(":");
        return [name, { node, ...(key.length > 0 && { key: key.join(":") }) }];
      }),
    );
  })
  .describe(
    'Names in the context for results of earlier nodes, as those nodes set them. A list: keys of the nodes directly before. An object: `{"draft": "write:output"}`, from any node before; without a key all that it has brought.',
  );

const pathError = "must be a dot path such as email.attachments";

export const dotPath = (description: string) => textMatching(dotPathPattern, pathError).describe(description);

export const aYearSeconds = 31_536_000;

const secondsIn = { s: 1, m: 60, h: 3_600, d: 86_400 } as const;

const aYear = {
  min: 1,
  max: aYearSeconds,
  error: "must be whole seconds or a text such as 90s, 15m, 12h, 3d, at most a year",
};

/**
 * Builds the schema of a duration, written as whole seconds or as a text such as `"15m"`. The schema parses it into
 * seconds.
 */
export function duration(description: string, { min, max, error } = aYear) {
  const number = numberBetween("whole", min, max, error);
  const text = textMatching(/^[1-9]\d{0,7}[smhd]$/, error);
  return z
    .union([number, text], { error })
    .transform((written, context) => {
      const seconds = typeof written === "number" ? written : secondsOf(written);
      if (seconds > max) context.addIssue({ code: "custom", message: error, input: written });
      return seconds;
    })
    .describe(description);
}

function secondsOf(text: string): number {
  return Number(text.slice(0, -1)) * secondsIn[text.at(-1) as keyof typeof secondsIn];
}

/** The name of a credential is the start of names in code, so few characters are allowed. */
const credentialNamePattern = /^[a-z][a-z0-9_]{0,39}$/;

const nameError = "must be a name such as email: a lower-case letter, then lower-case letters, digits or _, at most 40";

export const CredentialName = textMatching(credentialNamePattern, nameError);

/** Builds the schema of a list of names of credentials. `whose` completes its description. */
export function credentialNames(whose: string) {
  return z
    .array(CredentialName, { error: 'must be a list of names such as ["email"]' })
    .max(20, { error: "must have at most 20 names" })
    .refine((names) => new Set(names).size === names.length, { error: "must name each credential once" })
    .describe(
      `Names of the credentials, of the client or of the workflow, that ${whose} \`[]\`: none. See Credentials.`,
    );
}

const conditionError = "must be a text, a number below 1e15, true or false";

/** A number in a condition. In this range, JavaScript represents every whole number exactly. */
const ConditionNumber = z
  .number({ error: conditionError })
  .gt(-1e15, { error: conditionError })
  .lt(1e15, { error: conditionError });

export const AuthoredEdge = z
  .strictObject(
    {
      from: text("Id of the node that the edge leaves."),
      to: text("Id of the node that the edge leads to."),
      condition: z
        .union([z.string(), z.boolean(), ConditionNumber], { error: conditionError })
        .describe(
          "On edges out of a decision or an approval, and only there: the value of `branch_decision`, or the choice, that takes this edge. " +
            '`true` and `"true"` are the same; `"default"` catches every other value, `"timeout"` an approval without an answer in time.',
        )
        .optional(),
      max: numberBetween("whole", 1, 1000)
        .describe(
          "On an edge out of a decision or an approval that leads back to an earlier node, or into a detour that does, and only there: how often it may be taken, 1 to 1000, " +
            'before the run continues along `"default"`, or fails without such an edge.',
        )
        .optional(),
    },
    { error: 'must be an object such as { "from": "a", "to": "b" }' },
  )
  .describe("The way from one node to the next.");
export type AuthoredEdge = z.infer<typeof AuthoredEdge>;
