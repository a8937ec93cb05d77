import { z } from "zod";

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
});

export type ServiceEnvironment = z.infer<typeof ServiceEnvironment>;
