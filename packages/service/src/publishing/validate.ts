import type { Compiled } from "@nova/compiler";
import { pastTimes, type Workflow, type WorkflowSource } from "@nova/workflow";
import { Refused } from "../errors.ts";
import { approvalFindings, mailFindings } from "../failures/no-mailer.ts";
import type { Principal } from "../ports/access.ts";
import type { ServicePorts } from "../ports/index.ts";
import { clientFindings } from "../triggers/clients.ts";
import { takenTriggers } from "../triggers/taken.ts";
import { callFindings } from "../workflows/called.ts";

type ValidatePorts = Pick<
  ServicePorts,
  "compile" | "workflows" | "functions" | "triggers" | "clients" | "clock" | "mailer"
>;
export type Publishable = Extract<Compiled, { workflow: Workflow }>;

/**
 * Everything that keeps a definition from being published, and what it compiles to. No side effect. A key of one client
 * is told nothing of others: neither whether they are there, nor by which address or hook they start a run.
 */
export async function validateWorkflow(
  ports: ValidatePorts,
  by: Principal | null,
  source: WorkflowSource,
): Promise<Compiled> {
  const { functions } = ports;
  const now = ports.clock.now();
  const compiled = await ports.compile(source, { functions });
  if (!compiled.workflow) return compiled;
  const missing = await callFindings(ports, compiled.workflow);
  const taken = await takenTriggers(ports, by, compiled.workflow);
  const errors = [...missing, ...taken, ...mailFindings(ports, compiled.workflow)];
  const warnings = [
    ...(await clientFindings(ports, by, compiled.workflow)),
    ...pastTimes(compiled.workflow, now),
    ...approvalFindings(ports, compiled.workflow),
  ];
  const findings = [...compiled.findings, ...errors, ...warnings];
  return errors.length > 0 ? { findings } : { ...compiled, findings };
}

/** Throws `Refused` with all findings. */
export async function demandValid(
  ports: ValidatePorts,
  by: Principal | null,
  source: WorkflowSource,
): Promise<Publishable> {
  const compiled = await validateWorkflow(ports, by, source);
  if (compiled.workflow) return compiled;
  const errors = compiled.findings.filter(({ severity }) => severity === "error");
  const more = errors.length > 1 ? ` (and ${errors.length - 1} more)` : "";
  throw new Refused(`${errors[0]?.code}: ${errors[0]?.message}${more}`, compiled.findings);
}
