/** Variables in the shell of a deployment that functions get where they are set. functions/ explains them. */
const handedOn = [
  "DEFAULT_MODEL",
  "E2B_TEMPLATE_ID",
  "NOVA_API_URL",
  "NOVA_CORS_ORIGINS",
  "NOVA_E2B_CONCURRENT",
  "NOVA_E2B_CREATES_PER_SECOND",
  "NOVA_EMBEDDING_MODEL",
  "NOVA_FROZEN",
  "NOVA_JWT_AUDIENCE",
  "NOVA_JWT_CLIENT_CLAIM",
  "NOVA_JWT_ISSUER",
  "NOVA_JWT_JWKS_URL",
  "NOVA_JWT_ROLE_CLAIM",
  "NOVA_LINK_BASE",
  "NOVA_LLM_API",
  "NOVA_MAIL_DOMAINS",
  "NOVA_MODELS",
  "NOVA_PRIVATE_HOSTS",
  "NOVA_RATE_PER_KEY",
  "OPENAI_BASE_URL",
];

/** Without a plan clients take turns as on the plan Pro of E2B: however many runs one of them starts, another one's begin. */
const usual = { NOVA_E2B_CONCURRENT: "100" };

export function settingsFrom(variables: NodeJS.ProcessEnv): Record<string, string> {
  return {
    ...usual,
    ...Object.fromEntries(handedOn.flatMap((name) => (variables[name] ? [[name, variables[name]]] : []))),
  };
}

/** The domains that NOVA receives mail for, and the address that it sends from. */
export interface MailSettings {
  domains: string[];
  /** The sender of mails about failures; absent: NOVA sends no mail. */
  from?: string;
}

/** Without a domain NOVA receives no mail. Without a sender it uses an address of the first domain. */
export function mailSettingsFrom({ NOVA_MAIL_DOMAINS, NOVA_MAIL_FROM }: NodeJS.ProcessEnv): MailSettings {
  const domains = listed(NOVA_MAIL_DOMAINS).map((domain) => domain.toLowerCase());
  const from = NOVA_MAIL_FROM || (domains[0] && `nova@${domains[0]}`);
  return { domains, ...(from && { from }) };
}

/** Identities of SES that mails may be from: the address to send from, its domain, and the domains that mail comes in for. */
export function sendersFrom(env: NodeJS.ProcessEnv): string[] {
  const { domains, from } = mailSettingsFrom(env);
  return from === undefined ? [] : [...new Set([from, from.replace(/^.*@/, ""), ...domains])];
}

/** The parts of a list with commas. */
export function listed(text = ""): string[] {
  return text.split(",").flatMap((part) => part.trim() || []);
}
