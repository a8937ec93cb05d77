import { type Executor, type LockedCode, nodeIndex } from "@nova/workflow";
import { contentOrNull } from "../chain/contents.ts";
import type { Head } from "../chain/head.ts";
import { sha256 } from "../json/text.ts";
import type { StoredEntry } from "../ports/chain.ts";
import type { Ports } from "../ports/index.ts";
import type { WorkflowVersion } from "../ports/workflows.ts";
import { type AiMetadata, type AiRun, type AnalysisMetadata, aiMetadata } from "./ai-metadata.ts";

/** What is told of the code of a version's nodes, whoever wrote it. */
export class ToldCode {
  readonly #ports: Pick<Ports, "blobs">;
  readonly #executors: ReadonlyMap<string, Executor>;
  readonly #locked: Readonly<Record<string, LockedCode>>;

  constructor(ports: Pick<Ports, "blobs">, version: WorkflowVersion | undefined) {
    this.#ports = ports;
    this.#executors = version ? executorsIn(version) : new Map();
    this.#locked = version?.workflow.lock ?? {};
  }

  /** Whether a model writes it. */
  isWritten({ node_id }: Head): boolean {
    return this.#executors.get(node_id)?.kind === "prompt";
  }

  /** Written by hand it is in the definition; what a model wrote is in the entry, or locked beside the workflow. */
  async of(entry: StoredEntry, head: Head): Promise<string | null> {
    if (head.code === null) return null;
    const executor = this.#executors.get(head.node_id);
    if (executor?.kind === "code") return executor.code;
    return (await contentOrNull(this.#ports, entry, head, "code")) ?? this.#lockedOf(head)?.code ?? null;
  }

  /** What is told as the code of a prompt node for which none was written. */
  promptOf({ node_id, code }: Head): string | null {
    const executor = this.#executors.get(node_id);
    return executor?.kind === "prompt" && code === null ? executor.prompt : null;
  }

  /** Null for code written by hand. */
  async metadata(
    entry: StoredEntry,
    head: Head,
    run: Pick<AiRun, "steps" | "code" | "error">,
  ): Promise<AiMetadata | null> {
    const executor = this.#executors.get(head.node_id);
    if (executor?.kind !== "prompt") return null;
    const codeModel = this.#lockedOf(head)?.model ?? null;
    const pinnedAnalysis = await this.#analysisOf(entry, head);
    return aiMetadata({ ...run, head, prompt: executor.prompt, codeModel, ...(pinnedAnalysis && { pinnedAnalysis }) });
  }

  /** Of a hit: the analysis that ran before its code. */
  async #analysisOf(entry: StoredEntry, head: Head): Promise<AnalysisMetadata | undefined> {
    if (head.analysis === undefined) return undefined;
    const locked = this.#locked[head.node_id];
    const lockedCode = locked?.analysisHash === head.analysis ? locked.analysis : undefined;
    const code = (await contentOrNull(this.#ports, entry, head, "analysis_code")) ?? lockedCode ?? null;
    const found = await contentOrNull(this.#ports, entry, head, "analysis");
    const { result = null, execution_time_ms = 0 } = found === null ? {} : JSON.parse(found);
    return { analysis_code: code, analysis_result: result, generation_time_ms: 0, execution_time_ms };
  }

  #lockedOf({ node_id, code }: Head): LockedCode | undefined {
    const locked = this.#locked[node_id];
    return locked && sha256(locked.code) === code ? locked : undefined;
  }
}

function executorsIn({ workflow }: WorkflowVersion): Map<string, Executor> {
  const nodes = Array.from(nodeIndex(workflow).values(), ({ node }) => node);
  return new Map(nodes.flatMap((node) => ("executor" in node ? [[node.id, node.executor]] : [])));
}
