import type { Clock } from "@nova/engine";
import type { ServicePorts, ServiceStores } from "@nova/service";
import { createRates, trustIssuer } from "@nova/service/adapters";
import type { FunctionPorts } from "./app.ts";
import type { ServiceEnvironment } from "./environment.ts";

/** The verifier of tokens and the limiter of requests, if the environment configures them. */
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
