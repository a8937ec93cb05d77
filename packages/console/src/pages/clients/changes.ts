import type { Client, Schemas } from "@nova/client";

type Quotas = Schemas["ClientQuotas"];

export interface SettingsDraft {
  name: string;
  mailFrom: string;
  mails: string;
  webhook: string;
  secret: string;
}

export function createSettingsDraft({ name, mail_from, on_failure: { mail = [], webhook } }: Client): SettingsDraft {
  return {
    name,
    mailFrom: mail_from ?? "",
    mails: mail.join(", "),
    webhook: webhook?.url ?? "",
    secret: webhook?.secret ?? "",
  };
}

/** Returns only changed settings, because `mail_from` needs a key with more rights. */
export function diffSettings(client: Client, draft: SettingsDraft) {
  const before = createSettingsDraft(client);
  const name = draft.name.trim();
  const mailFrom = draft.mailFrom.trim();
  const hasReceiverChange = (["mails", "webhook", "secret"] as const).some(
    (field) => draft[field].trim() !== before[field],
  );
  return {
    ...(name !== before.name && { name }),
    ...(mailFrom !== before.mailFrom && { mail_from: mailFrom || null }),
    ...(hasReceiverChange && { on_failure: parseOnFailure(draft) }),
  };
}

function parseOnFailure({ mails, webhook, secret }: SettingsDraft) {
  const mail = mails.split(/[\s,;]+/).filter((address) => address !== "");
  const url = webhook.trim();
  const signed = secret.trim();
  return {
    ...(mail.length > 0 && { mail }),
    ...(url !== "" && { webhook: { url, ...(signed !== "" && { secret: signed }) } }),
  };
}

export const quotaNames = ["max_concurrent", "max_cost_usd", "retention_days"] as const;
export type QuotaName = (typeof quotaNames)[number];
export type QuotasDraft = Record<QuotaName, string>;

export function createQuotasDraft(quotas: Quotas): QuotasDraft {
  const texts = quotaNames.map((name) => [name, quotas[name] == null ? "" : String(quotas[name])] as const);
  return Object.fromEntries(texts) as QuotasDraft;
}

/** Checks the format of a quota. The server checks its range. */
export function checkQuota(name: QuotaName, text: string): "whole" | "amount" | undefined {
  const value = text.trim();
  if (value === "") return undefined;
  if (name === "max_cost_usd") return /^\d+(\.\d+)?$/.test(value) ? undefined : "amount";
  return /^\d+$/.test(value) ? undefined : "whole";
}

/** Builds all quotas, which are replaced together. An empty text removes a limit. */
export function parseQuotas(draft: QuotasDraft): Quotas {
  const values = quotaNames.map((name) => [name, draft[name].trim() === "" ? null : Number(draft[name])] as const);
  return Object.fromEntries(values) as Quotas;
}
