import { isIPv4, isIPv6 } from "node:net";
import { z } from "zod";
import type { ModelChoice } from "../workflow.ts";
import { filledText, flag } from "./fields.ts";
import { isConfig, LlmConfig } from "./text.ts";

const error = 'must be the id of a model, or an object such as { "code_generator": "gpt-5.1" }';

const forRole = (role: string) => filledText(`Model that ${role}.`).optional();

const byRole = z.strictObject(
  {
    input_analyzer: forRole("looks at the task and the shape of the data"),
    data_analyzer: forRole("writes code that looks at the data itself"),
    code_generator: forRole("writes the code"),
    output_validator: forRole("judges what the code has done"),
    text: forRole("answers in text nodes"),
  },
  { error },
);

const oneModel = z.string({ error }).regex(/\S/, { error });

/**
 * Builds the schema of the model of a node: one id for every role, or an object with ids for some roles. A text node
 * may have settings of a model instead.
 */
export function nodeModel(description: string) {
  const either = z.strictObject({ ...byRole.shape, ...LlmConfig.shape }, { error });
  return z
    .union([oneModel, either], { error })
    .transform((written, context): ModelChoice | LlmConfig => {
      if (typeof written === "string" || !isConfig(written)) return choiceOf(written, context);
      const { provider, model, temperature, max_tokens, ...roles } = written;
      const isBoth = Object.values(roles).some((role) => role !== undefined);
      if (isBoth) context.addIssue({ code: "custom", message: "must have ids by role, or settings", input: written });
      return { provider, model, temperature, max_tokens };
    })
    .describe(description);
}

type WrittenChoice = string | z.output<typeof byRole>;

function choiceOf(written: WrittenChoice, context: z.RefinementCtx): ModelChoice {
  if (typeof written === "string") return { default: written };
  const roles = Object.entries(written).filter(([, model]) => model !== undefined);
  const isEmpty = roles.length === 0 && context.issues.length === 0;
  if (isEmpty) context.addIssue({ code: "custom", message: error, input: written });
  return Object.fromEntries(roles);
}

const example = '"host" or "host:port" such as "imap.example.com:993"';

const hostName = /^(?=.{1,253}$)[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?)*$/;

const Address = z.string({ error: `must be ${example}` }).transform((written, context) => {
  const text = written.trim().toLowerCase();
  const [, host = "", port] = /^(\[[^\]]*\]|[^:]*)(?::(.*))?$/.exec(text) ?? [];
  if ((isHost(host) || isRange(host)) && (port === undefined || isPort(port))) return text;
  context.addIssue({ code: "custom", message: whyNot(text, host), input: written });
  return z.NEVER;
});

const notOneIPv6 = /%|^\[ff|^\[[0:]*\]$|^\[[0:]*:ffff:/;

/**
 * The hosts that code may reach. An entry with a wildcard is refused, because the hosts must be known before the code
 * runs.
 */
export const NetworkAllow = z
  .array(Address, { error: 'must be a list such as ["imap.example.com:993"]' })
  .max(50, { error: "must have at most 50 entries" })
  .describe('Hosts, each as `"host"` or `"host:port"`, or ranges of addresses: `"10.0.0.0/8"`, `"10.0.0.0/8:5432"`.');

function isHost(host: string): boolean {
  if (host.startsWith("[")) return isIPv6(host.slice(1, -1)) && !notOneIPv6.test(host);
  if (isIPv4(host)) return !/^(0|22[4-9]|2[34]\d|25\d)\./.test(host);
  return hostName.test(host) && !/(^|\.)\d+$/.test(host);
}

const leastPrefix = 8;

/** Returns true for a range of addresses, such as `10.0.0.0/8` or `[2001:db8::/32]`. */
function isRange(text: string): boolean {
  const [, address = "", bits = ""] = /^\[?([0-9a-f.:]+)\/(\d{1,3})\]?$/.exec(text) ?? [];
  const prefix = Number(bits);
  if (text.startsWith("[") !== text.endsWith("]") || prefix < leastPrefix) return false;
  if (text.startsWith("[")) return prefix <= 128 && isHost(`[${address}]`);
  return prefix <= 32 && isIPv4(address) && isHost(address);
}

function isPort(port: string): boolean {
  return /^[1-9]\d{0,4}$/.test(port) && Number(port) <= 65_535;
}

function whyNot(text: string, host: string): string {
  if (/^[a-z][a-z0-9+.-]*:\/\//.test(text)) return `must be ${example}, without a scheme`;
  if (text.includes("*")) return `must name one host each, as ${example}: a wildcard cannot be enforced`;
  if (text.includes("/")) return `must name one host each, as ${example}, without a path`;
  if (isIPv6(text)) return `must have an IPv6 address in brackets: "[${text}]:443"`;
  if (isHost(host)) return "must have a port from 1 to 65535 after the colon";
  return `must be ${example}`;
}

const costError = "must be US dollars, more than 0";

const roles = "`input_analyzer`, `data_analyzer`, `code_generator`, `output_validator`, `text`";

export const workflowModel = z
  .union([oneModel, byRole], { error })
  .transform(choiceOf)
  .describe(
    `Model of the prompt and text nodes that name none: an id for every role, or an object with ids for some of ${roles}.`,
  )
  .optional();

/**
 * Builds the schemas of the fields about models that nodes and workflows share. `whose` has the parts of their
 * descriptions that differ.
 */
export function aiFields(whose: { limits: string; ai: string; network: string }) {
  return {
    limits: z
      .strictObject(
        { max_cost_usd: z.number({ error: costError }).positive({ error: costError }).describe("US dollars.") },
        { error: 'must be an object such as { "max_cost_usd": 0.5 }' },
      )
      .describe(
        `\`max_cost_usd\`: what the models of ${whose.limits} may cost, in US dollars. Checked before each call.`,
      )
      .optional(),
    ai: z
      .strictObject(
        { samples: flag("Whether a model may see short samples of values.") },
        { error: 'must be an object such as { "samples": false }' },
      )
      .describe(`\`samples\`: whether a model sees short samples of values in addition to names and types. ${whose.ai}`)
      .optional(),
    network: z
      .strictObject(
        { allow: NetworkAllow },
        { error: 'must be an object such as { "allow": ["imap.example.com:993"] }' },
      )
      .describe(`\`allow\`: the hosts that ${whose.network}, as \`host\` or \`host:port\`; see Network.`)
      .optional(),
  };
}
