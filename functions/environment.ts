import { z } from "zod";

const Models = z.enum(["on", "off"], 'NOVA_MODELS is neither "on" nor "off"').default("on");

/** The environment of every function, without the variables of the SDKs. */
export const Environment = z
  .object({
    NOVA_TABLE: z.string().default("nova"),
    NOVA_BUCKET: z.string(),
    NOVA_STATES_ROLE_ARN: z.string().default("arn:aws:iam::000000000000:role/nova-states"),
    /**
     * ARN of the log group for failures of state machines, ending in `:*`; absent: state machines write no logs and no
     * traces.
     */
    NOVA_STATES_LOG_GROUP_ARN: z.string().optional(),
    /**
     * KMS HMAC key for signatures that only NOVA checks; absent: NOVA signs with `NOVA_SIGNING_KEY`, 32 bytes in hex.
     */
    NOVA_SIGNING_KMS_KEY: z.string().optional(),
    NOVA_SIGNING_KEY: z.string().optional(),
    /**
     * KMS keys (`ECC_NIST_P256`) that ever signed close entries, separated by commas; the last key signs. Absent: the
     * last key in `NOVA_PROOF_KEY_FILE` signs, or, without that file, a key that is derived from `NOVA_SIGNING_KEY`.
     */
    NOVA_PROOF_KMS_KEYS: z
      .string()
      .transform((ids) => ids.split(","))
      .optional(),
    NOVA_PROOF_KEY_FILE: z.string().optional(),
    /** KMS key that encrypts the task tokens of approvals; absent: `NOVA_VAULT_KEY`, 32 bytes in hex, encrypts them. */
    NOVA_VAULT_KMS_KEY: z.string().optional(),
    NOVA_VAULT_KEY: z.string().optional(),
    NOVA_EVENT_BUS: z.string().default("nova"),
    /**
     * Address of the page that answers tasks, such as `https://nova.example.com/tasks`; absent: messages name the
     * command `nova approve` instead.
     */
    NOVA_LINK_BASE: z.url().optional(),
    /** Address of the REST API, for links that resume a wait; absent: code cannot read such a link. */
    NOVA_API_URL: z.url().optional(),
    /** Whether models must not write code. True by default, so a deployment runs only code that is already stored. */
    NOVA_FROZEN: z.stringbool().default(true),
    /** `off`: NOVA asks no model for code or text. */
    NOVA_MODELS: Models,
    /** Id of the model for roles without a model in the node or its workflow. */
    DEFAULT_MODEL: z.string().optional(),
    /** Folder with the documentation of sandbox templates in which extra requirements are installed. */
    NOVA_DOCSTRINGS: z.string().optional(),
    /**
     * Whether servers that users name (webhooks, token endpoints, mailboxes) may be in private networks, as on a
     * laptop.
     */
    NOVA_PRIVATE_HOSTS: z.stringbool().default(false),
    /** Limits of E2B's plan: new sandboxes in a second, and sandboxes at the same time; absent: no limit. */
    NOVA_E2B_CREATES_PER_SECOND: z.coerce.number().positive().optional(),
    NOVA_E2B_CONCURRENT: z.coerce.number().int().positive().optional(),
    NOVA_S3_PATH_STYLE: z.stringbool().default(false),
  })
  .refine((env) => env.NOVA_SIGNING_KMS_KEY !== undefined || env.NOVA_SIGNING_KEY !== undefined, {
    message: "set NOVA_SIGNING_KMS_KEY (a KMS key id) or NOVA_SIGNING_KEY (64 hex digits)",
  })
  .refine((env) => env.NOVA_PROOF_KMS_KEYS !== undefined || env.NOVA_SIGNING_KEY !== undefined, {
    message: "set NOVA_PROOF_KMS_KEYS (KMS key ids, the newest last) or NOVA_SIGNING_KEY (64 hex digits)",
  })
  .refine((env) => env.NOVA_VAULT_KMS_KEY !== undefined || env.NOVA_VAULT_KEY !== undefined, {
    message: "set NOVA_VAULT_KMS_KEY (a KMS key id) or NOVA_VAULT_KEY (64 hex digits)",
  });

export type Environment = z.infer<typeof Environment>;

/** Additional environment of functions that use the service. */
export const ServiceEnvironment = z.object({
  NOVA_TABLE: z.string().default("nova"),
  /** ARN of the functions that state machines call, with `{name}` instead of the name of a function. */
  NOVA_FUNCTION_ARN: z
    .string()
    .includes("{name}")
    .default("arn:aws:lambda:us-east-1:000000000000:function:{name}:live"),
  /**
   * Whether separate functions run publications and erasures. These functions receive their work as events of the bus.
   */
  NOVA_QUEUES: z.stringbool().default(false),
  NOVA_EVENT_BUS: z.string().default("nova"),
  /** Group of the stage's schedules, and the role with which EventBridge Scheduler calls functions. */
  NOVA_SCHEDULE_GROUP: z.string().default("nova"),
  NOVA_SCHEDULE_ROLE_ARN: z.string().default("arn:aws:iam::000000000000:role/nova-schedules"),
  /** ARN of the queue for events and scheduled times that no function accepted; absent: NOVA loses these. */
  NOVA_UNDELIVERED_ARN: z.string().optional(),
  /** Domains for which NOVA receives mail, separated by commas; absent: all domains, as on a laptop. */
  NOVA_MAIL_DOMAINS: z
    .string()
    .default("")
    .transform((text) => text.split(",").flatMap((domain) => domain.trim().toLowerCase() || [])),
  /** Sender of NOVA's own mails, an address that SES has verified; absent: NOVA sends no mail. */
  NOVA_MAIL_FROM: z.string().optional(),
  /**
   * Address of an authority (RFC 3161) that stamps the roots of trees; absent: roots get no stamps. A stamp over
   * `http:` is as safe as a stamp over `https:`, because the authority signs it together with the random number of
   * NOVA's request.
   */
  NOVA_TSA_URL: z
    .url({ protocol: /^https?$/, error: "NOVA_TSA_URL is no address - set it to https://... or http://..." })
    .optional(),
  /** Requests that a key may make in ten seconds; absent: no limit. */
  NOVA_RATE_PER_KEY: z.coerce.number().int().min(1).optional(),
  /** `iss` and `aud` of the tokens that the API accepts in addition to keys; absent: it accepts only keys. */
  NOVA_JWT_ISSUER: z.url().optional(),
  NOVA_JWT_AUDIENCE: z.string().default("nova"),
  /** URL of the issuer's public keys; absent: `/.well-known/jwks.json` of the issuer. */
  NOVA_JWT_JWKS_URL: z.url().optional(),
  /**
   * Names of two claims of a token: the first claim contains the role, the second the client that the token may access
   * (`*`: all clients).
   */
  NOVA_JWT_ROLE_CLAIM: z.string().default("nova_role"),
  NOVA_JWT_CLIENT_CLAIM: z.string().default("nova_client"),
  /**
   * Names of two claims of a token: the first claim contains the groups of the token's subject, the second the roles.
   * Approvals may name these groups and roles.
   */
  NOVA_JWT_GROUPS_CLAIM: z.string().default("groups"),
  NOVA_JWT_ROLES_CLAIM: z.string().default("roles"),
  /** Sandbox template of workflows without requirements. */
  E2B_TEMPLATE_ID: z.string().default("nova"),
  /** `off`: NOVA refuses to publish nodes that need a model, instead of letting them fail when they run. */
  NOVA_MODELS: Models,
});

export type ServiceEnvironment = z.infer<typeof ServiceEnvironment>;

/** Additional environment of the API. */
export const ApiEnvironment = z.object({
  /** Origins of pages that may call the API, separated by commas; `*` allows all. */
  NOVA_CORS_ORIGINS: z
    .string()
    .default("")
    .transform((text) => text.split(",").flatMap((origin) => origin.trim() || [])),
});
