import type { Deployment } from "../lambda/deployment.ts";
import { type Access, allowing, type Statement } from "./policy.ts";
import { type AwsRequest, accessesOf } from "./requests.ts";

export interface Checked {
  /** The number of requests that were checked. */
  count: number;
  /** The callers of the requests: names of functions, and "state machines". */
  askers: Set<string>;
  /** The requests that no statement of their caller's role allows, each with the number of times that it was sent. */
  refused: Map<string, number>;
}

/** The access key id that moto uses for requests of state machines. */
const machines = "ak";

/** Checks every request against the role of its caller. */
export function checkRoles(requests: readonly AwsRequest[], { functions, roles, ofTable }: Deployment): Checked {
  const roleOf = new Map(functions.map(({ name, role }) => [name, role]));
  const machinesRole = functions.find(({ name }) => name === "nova-publish")?.environment.NOVA_STATES_ROLE_ARN;
  roleOf.set(machines, machinesRole ?? "");
  const checked: Checked = { count: 0, askers: new Set(), refused: new Map() };
  for (const request of requests) {
    const role = roleOf.get(request.who);
    // Rules, schedules and queue mappings have no role, because the functions that they invoke have policies that allow
    // these invocations.
    if (role === undefined) continue;
    const asker = request.who === machines ? "state machines" : request.who;
    checked.askers.add(asker);
    checked.count += 1;
    for (const refusal of refusalsOf(request, role, [...(roles[role] ?? []), ...ofTable])) {
      const line = `${asker}: ${refusal}`;
      checked.refused.set(line, (checked.refused.get(line) ?? 0) + 1);
    }
  }
  return checked;
}

function refusalsOf(request: AwsRequest, role: string, statements: readonly Statement[]): string[] {
  try {
    return accessesOf(request)
      .filter((access) => {
        const context = { ...access.context, "aws:PrincipalArn": [role] };
        return allowing(statements, { ...access, context }).length === 0;
      })
      .map(brief);
  } catch (error) {
    // A request that this check does not know counts as not allowed.
    return [String(error)];
  }
}

/** Describes an access. Ids and hashes, which differ between runs, are replaced by dots. */
function brief({ action, resource, context }: Access): string {
  const conditions = Object.entries(context).map(([key, values]) => `${key} ${values.join(" ")}`);
  const text = [action, "on", resource, ...(conditions.length > 0 ? ["where", ...conditions] : [])].join(" ");
  return text.replaceAll(/[0-9A-HJKMNP-TV-Z]{26}|[0-9a-f]{64}/g, "...");
}
