import { z } from "zod";

const Models = z.enum(["on", "off"], 'NOVA_MODELS is neither "on" nor "off"').default("on");

/** What a function of NOVA is told by its environment, besides the variables of the SDKs themselves. */
export const Environment = z
  .object({
    NOVA_TABLE: z.string().default("nova"),
    NOVA_BUCKET: z.string(),
    /** What state machines run as. */
    NOVA_STATES_ROLE_ARN: z.string().default("arn:aws:iam::000000000000:role/nova-states"),
    /** Where state machines log what fails, ending in `:*`; absent: nowhere, and they are not traced either. */
    NOVA_STATES_LOG_GROUP_ARN: z.string().optional(),
    /** A KMS HMAC key signs close entries; without one, 32 bytes in hex do. */
    NOVA_SIGNING_KMS_KEY: z.string().optional(),
    NOVA_SIGNING_KEY: z.string().optional(),
    /** A KMS key seals the task tokens of approvals; without one, 32 bytes in hex do. */
    NOVA_VAULT_KMS_KEY: z.string().optional(),
    NOVA_VAULT_KEY: z.string().optional(),
    /** Name of NOVA's bus of events. */
    NOVA_EVENT_BUS: z.string().default("nova"),
    /** Address of the page that answers tasks, such as `https://nova.example.com/tasks`; else events name the command. */
    NOVA_LINK_BASE: z.url().optional(),
    /** Address of the REST API, for links that let a wait go on; without one code cannot ask for such a link. */
    NOVA_API_URL: z.url().optional(),
    /** Whether models may write no code: the default where nothing else is said, which is where NOVA is deployed. */
    NOVA_FROZEN: z.stringbool().default(true),
    /** `off`: no model is asked for anything, code or text. */
    NOVA_MODELS: Models,
    /** Id of the model for roles that neither a node nor its workflow names one for. */
    DEFAULT_MODEL: z.string().optional(),
    /** Folder with the documentation of sandbox templates that were built with requirements of their own. */
    NOVA_DOCSTRINGS: z.string().optional(),
    /** Whether servers that users name (webhooks, token endpoints, mailboxes) may be in private networks, as on a laptop. */
    NOVA_PRIVATE_HOSTS: z.stringbool().default(false),
    /** What the plan of E2B allows: sandboxes that are made in a second, and sandboxes at once; absent: whatever comes. */
    NOVA_E2B_CREATES_PER_SECOND: z.coerce.number().positive().optional(),
    NOVA_E2B_CONCURRENT: z.coerce.number().int().positive().optional(),
    NOVA_S3_PATH_STYLE: z.stringbool().default(false),
  })
  .refine((env) => env.NOVA_SIGNING_KMS_KEY !== undefined || env.NOVA_SIGNING_KEY !== undefined, {
    message: "set NOVA_SIGNING_KMS_KEY (a KMS key id) or NOVA_SIGNING_KEY (64 hex digits)",
  })
  .refine((env) => env.NOVA_VAULT_KMS_KEY !== undefined || env.NOVA_VAULT_KEY !== undefined, {
    message: "set NOVA_VAULT_KMS_KEY (a KMS key id) or NOVA_VAULT_KEY (64 hex digits)",
  });

export type Environment = z.infer<typeof Environment>;

/** What a function that needs the service is told by its environment, beyond what every function is. */
export const ServiceEnvironment = z.object({
  NOVA_TABLE: z.string().default("nova"),
  /** ARN of the functions that state machines call, `{name}` in the place of the name. */
  NOVA_FUNCTION_ARN: z
    .string()
    .includes("{name}")
    .default("arn:aws:lambda:us-east-1:000000000000:function:{name}:live"),
  /** Whether rules of the bus hand what is to be published, or erased, to functions that take their time. */
  NOVA_QUEUES: z.stringbool().default(false),
  NOVA_EVENT_BUS: z.string().default("nova"),
  /** Group of the stage's schedules, and what EventBridge Scheduler calls functions as. */
  NOVA_SCHEDULE_GROUP: z.string().default("nova"),
  NOVA_SCHEDULE_ROLE_ARN: z.string().default("arn:aws:iam::000000000000:role/nova-schedules"),
  /** ARN of the queue for events and schedules that no function took; absent: they are lost. */
  NOVA_UNDELIVERED_ARN: z.string().optional(),
  /** Domains that NOVA takes mail for, with commas between; absent: whatever comes in is for it, as on a laptop. */
  NOVA_MAIL_DOMAINS: z
    .string()
    .default("")
    .transform((text) => text.split(",").flatMap((domain) => domain.trim().toLowerCase() || [])),
  /** Who NOVA's own mails are from: an address that SES has verified; absent: NOVA sends none. */
  NOVA_MAIL_FROM: z.string().optional(),
  /** Requests that a key may make in ten seconds; absent: as many as it likes. */
  NOVA_RATE_PER_KEY: z.coerce.number().int().min(1).optional(),
  /** `iss` and `aud` of tokens that open the API besides keys; absent: none do. */
  NOVA_JWT_ISSUER: z.url().optional(),
  NOVA_JWT_AUDIENCE: z.string().default("nova"),
  /** Absent: `/.well-known/jwks.json` of the issuer. */
  NOVA_JWT_JWKS_URL: z.url().optional(),
  /** Claims of a token: its role, and the one client that it reaches (`*`: all of them). */
  NOVA_JWT_ROLE_CLAIM: z.string().default("nova_role"),
  NOVA_JWT_CLIENT_CLAIM: z.string().default("nova_client"),
  /** Sandbox template of workflows without requirements. */
  E2B_TEMPLATE_ID: z.string().default("nova"),
  /** `off`: what asks a model is refused before it runs. */
  NOVA_MODELS: Models,
});

export type ServiceEnvironment = z.infer<typeof ServiceEnvironment>;

/** What the API is told beyond what every function of the service is. */
export const ApiEnvironment = z.object({
  /** Origins of pages that may call the API, with commas between; `*` for every one. */
  NOVA_CORS_ORIGINS: z
    .string()
    .default("")
    .transform((text) => text.split(",").flatMap((origin) => origin.trim() || [])),
});
