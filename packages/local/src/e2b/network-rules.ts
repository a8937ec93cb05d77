import { isIP } from "node:net";
import { z } from "zod";
import { Refusal } from "./errors.ts";

const allTraffic = "0.0.0.0/0";
const domain = /^(\*\.)?[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)*$/i;
const Rules = z.object({ allowOut: z.array(z.string()).nullish(), denyOut: z.array(z.string()).nullish() });

/** Refuses rules for what goes out, in E2B's words: no ports, names to allow alone, and only with the rest denied. */
export function refuseBadRules(network: Record<string, unknown> | undefined): void {
  const rules = Rules.safeParse(network ?? {});
  if (!rules.success) throw new Refusal(400, `Error when parsing request: ${rules.error.issues[0]?.message}`);
  const [allowed, denied] = [rules.data.allowOut ?? [], rules.data.denyOut ?? []];
  for (const [list, entries] of Object.entries({ "allow out": allowed, "deny out": denied })) {
    const withPort = entries.find((entry) => /^[^:]+:\d+$/.test(entry));
    if (withPort === undefined) continue;
    const reason = "port-specific rules are not supported for egress";
    throw new Refusal(400, `invalid ${list} entry "${withPort}": ${reason}`);
  }
  const noRange = denied.find((entry) => !isRange(entry));
  if (noRange !== undefined) throw new Refusal(400, `invalid denied CIDR ${noRange}`);
  const names = allowed.filter((entry) => !isRange(entry));
  const noName = names.find((entry) => !domain.test(entry));
  if (noName !== undefined) throw new Refusal(400, `invalid allowed domain ${noName}`);
  if (names.length === 0 || denied.includes(allTraffic)) return;
  throw new Refusal(
    400,
    "When specifying allowed domains in allow out, you must include 'ALL_TRAFFIC' in deny out to block all other traffic.",
  );
}

function isRange(entry: string): boolean {
  const [address = "", bits, ...more] = entry.split("/");
  if (isIP(address) === 0 || more.length > 0) return false;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (isIP(address) === 4 ? 32 : 128));
}
