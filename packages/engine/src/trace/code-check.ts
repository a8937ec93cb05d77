import { nodeIndex, runHash, workflowHash } from "@nova/workflow";
import type { Head } from "../chain/head.ts";
import type { Ports } from "../ports/index.ts";
import type { WorkflowVersion } from "../ports/workflows.ts";
import { sha256 } from "../sha256.ts";

/** Checks that the version an entry names still has the definition that link 0 names, and the code that ran. */
export class CodeCheck {
  readonly #workflows: Ports["workflows"];
  readonly #versions = new Map<string, Promise<WorkflowVersion | "changed" | "missing">>();

  constructor({ workflows }: Pick<Ports, "workflows">) {
    this.#workflows = workflows;
  }

  async problemOf(head: Head): Promise<string | undefined> {
    if (head.code === null && head.definition === undefined) return undefined;
    const named = `version ${head.workflow_version} of workflow "${head.workflow_id}"`;
    const version = await this.#version(head);
    if (typeof version === "string") return `the definition that it ran, ${named}, ${sentences[version]}`;
    if (head.definition !== undefined && runHash(version.workflow) !== head.definition)
      return `the definition that it ran is not the one that ${named} holds: one of the two was changed`;
    if (head.code === null) return undefined;
    const node = nodeIndex(version.workflow).get(head.node_id)?.node;
    const executor = node && "executor" in node ? node.executor : undefined;
    if (executor?.kind === "prompt") return writtenProblem(head, version);
    return executor?.kind === "code" && sha256(executor.code) === head.code
      ? undefined
      : `the code that it ran is not the code that ${named} holds: one of the two was changed`;
  }

  #version({ workflow_id, workflow_version }: Head): Promise<WorkflowVersion | "changed" | "missing"> {
    const key = `${workflow_id} ${workflow_version}`;
    const version = this.#versions.get(key) ?? this.#read(workflow_id, workflow_version);
    this.#versions.set(key, version);
    return version;
  }

  async #read(workflowId: string, number: number): Promise<WorkflowVersion | "changed" | "missing"> {
    try {
      const version = await this.#workflows.stored(workflowId, number);
      if (!version) return "missing";
      return workflowHash(version.workflow) === version.hash ? version : "changed";
    } catch (error) {
      if (error instanceof SyntaxError) return "changed";
      if (error instanceof Error && error.name === "DefinitionMissing") return "missing";
      throw error;
    }
  }
}

/** Code that a model wrote is in the entry, or in the workflow's lock. */
function writtenProblem(head: Head, { workflow }: WorkflowVersion): string | undefined {
  const locked = workflow.lock?.[head.node_id];
  const isKnown = (hash: string | undefined, inEntry: string | undefined, text: string | undefined) =>
    hash === inEntry || (text !== undefined && sha256(text) === hash);
  if (!isKnown(head.code ?? undefined, head.digests.code, locked?.code)) return unknown("code");
  if (!isKnown(head.analysis, head.digests.analysis_code, locked?.analysis)) return unknown("analysis code");
  return undefined;
}

function unknown(what: string): string {
  return `the ${what} that it ran is neither in it nor locked beside its workflow: one of the two was changed`;
}

const sentences = { missing: "is missing", changed: "was changed: it has another hash than when it was published" };
