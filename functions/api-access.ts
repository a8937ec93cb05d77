import type { Clock } from "@nova/engine";
import type { ServicePorts, ServiceStores } from "@nova/service";
import { createRates, trustIssuer } from "@nova/service/adapters";
import type { FunctionPorts } from "./app.ts";
import type { ServiceEnvironment } from "./environment.ts";

/** Who besides keys may come in, and how often each may, as far as the environment says so. */
export function apiAccess(
  env: ServiceEnvironment,
  ports: { clock: Clock } & Pick<FunctionPorts, "outgoing"> & Pick<ServiceStores, "rateStore">,
): Pick<ServicePorts, "tokens" | "rates"> {
  const issuer = env.NOVA_JWT_ISSUER;
  return {
    ...(env.NOVA_RATE_PER_KEY !== undefined && { rates: createRates(ports, env.NOVA_RATE_PER_KEY) }),
    ...(issuer !== undefined && {
      tokens: trustIssuer(ports.outgoing, {
        issuer,
        audience: env.NOVA_JWT_AUDIENCE,
        jwksUrl: env.NOVA_JWT_JWKS_URL,
        roleClaim: env.NOVA_JWT_ROLE_CLAIM,
        clientClaim: env.NOVA_JWT_CLIENT_CLAIM,
      }),
    }),
  };
}
