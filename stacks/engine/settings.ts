/** Variables of the deploying shell that functions get if they are set. functions/ explains them. */
const passedVariables = [
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

/** Default: E2B's plan Pro. Clients take turns, so that many runs of one client do not block the others. */
const defaults = { NOVA_E2B_CONCURRENT: "100" };

export function settingsFrom(variables: NodeJS.ProcessEnv): Record<string, string> {
  return {
    ...defaults,
    ...Object.fromEntries(passedVariables.flatMap((name) => (variables[name] ? [[name, variables[name]]] : []))),
  };
}

/** The domains of incoming mail, and the sender of outgoing mail. */
export interface MailSettings {
  domains: string[];
  /** The sender of mails about failures; absent: NOVA sends no mail. */
  from?: string;
}

/** Without a domain NOVA receives no mail. Without a sender it uses an address of the first domain. */
export function mailSettingsFrom({ NOVA_MAIL_DOMAINS, NOVA_MAIL_FROM }: NodeJS.ProcessEnv): MailSettings {
  const domains = splitList(NOVA_MAIL_DOMAINS).map((domain) => domain.toLowerCase());
  const from = NOVA_MAIL_FROM || (domains[0] && `nova@${domains[0]}`);
  return { domains, ...(from && { from }) };
}

/** Returns the SES identities that may send mail: the sender, its domain, and the domains of incoming mail. */
export function sendersFrom(env: NodeJS.ProcessEnv): string[] {
  const { domains, from } = mailSettingsFrom(env);
  return from === undefined ? [] : [...new Set([from, from.replace(/^.*@/, ""), ...domains])];
}

/** Splits a comma-separated list. */
export function splitList(text = ""): string[] {
  return text.split(",").flatMap((part) => part.trim() || []);
}

/** The origin of the page, for CORS of the bucket. CloudFront's generated name is unknown in advance. */
export function consoleOrigin({ NOVA_CONSOLE_DOMAIN: name }: NodeJS.ProcessEnv): string {
  return `https://${name || "*.cloudfront.net"}`;
}
