import { checkHealth } from "../health/check.ts";
import { openRoute } from "../http/route.ts";
import { Health } from "../schemas/health.ts";

export const health = openRoute({
  method: "GET",
  path: "/health",
  summary: "State and latency of everything that runs need; looked at every five seconds at most",
  answers: {
    200: { description: "runs can start; `degraded`: their code or models cannot be reached", schema: Health },
    503: { description: "runs cannot start", schema: Health },
  },
  async serve(ports) {
    const found = await checkHealth(ports, process.env);
    return { status: found.status === "down" ? 503 : 200, body: found };
  },
});
