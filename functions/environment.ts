import { z } from "zod";

/**
 * What a function of NOVA is told by its environment, parsed once. Endpoints, region and credentials are the SDKs' own
 * variables and not in here.
 */
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
    /** Whether models may never be asked: the default where nothing else is said, which is where NOVA is deployed. */
    NOVA_FROZEN: z.stringbool().default(true),
    /** Id of the model for roles that neither a node nor its workflow names one for. */
    DEFAULT_MODEL: z.string().optional(),
    /** Folder with the documentation of sandbox templates that were built with requirements of their own. */
    NOVA_DOCSTRINGS: z.string().optional(),
    /** Whether servers that users name (webhooks, token endpoints, mailboxes) may be in private networks, as on a laptop. */
    NOVA_PRIVATE_HOSTS: z.stringbool().default(false),
    NOVA_S3_PATH_STYLE: z.stringbool().default(false),
  })
  .refine((env) => env.NOVA_SIGNING_KMS_KEY !== undefined || env.NOVA_SIGNING_KEY !== undefined, {
    message: "set NOVA_SIGNING_KMS_KEY (a KMS key id) or NOVA_SIGNING_KEY (64 hex digits)",
  })
  .refine((env) => env.NOVA_VAULT_KMS_KEY !== undefined || env.NOVA_VAULT_KEY !== undefined, {
    message: "set NOVA_VAULT_KMS_KEY (a KMS key id) or NOVA_VAULT_KEY (64 hex digits)",
  });

export type Environment = z.infer<typeof Environment>;
