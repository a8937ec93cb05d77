import { defined, isLong, type TaskNode } from "@nova/workflow";
import { linkName } from "../chain/link-name.ts";
import { NovaError } from "../errors.ts";
import type { Turn } from "../ports/chain.ts";
import type { CredentialOverlay } from "../ports/credentials.ts";
import type { Ports } from "../ports/index.ts";
import type { Claim, RunIo, RunRequest } from "../ports/sandboxes.ts";
import { graceSeconds } from "../sandboxes/spec.ts";
import type { Attempt } from "./acquire.ts";
import type { NodeIo, Task, TaskInput } from "./task-input.ts";

/** One run of a node's code. `step` distinguishes the runs at one link; code written by hand has one. */
export type NodeCode = Pick<RunRequest, "code" | "fileName" | "timeoutSeconds" | "network" | "near"> &
  Pick<Claim, "step">;

/** Builds the request for the sandbox: the claim, the code, and the values that the code finds. */
export function requestFor(
  { node, position: { at }, restartKey }: Task & Pick<TaskInput, "restartKey">,
  { attempt }: Turn,
  { step, code, fileName, timeoutSeconds, network, near }: NodeCode,
  context: RunRequest["context"],
  { isPlain }: Pick<NodeIo, "isPlain">,
): RunRequest {
  const link = linkName(at);
  return {
    execution: at.execution,
    claim: { link, step, attempt },
    node: node.id,
    nodeType: node.type,
    code,
    fileName,
    timeoutSeconds,
    context,
    ...defined({ network, near, isPlain: isPlain || undefined }),
    environment: {
      NOVA_IDEMPOTENCY_KEY: `${link}.${step}`,
      NOVA_RESTART_KEY: restartKey,
      NOVA_EXECUTION_ID: at.execution,
      NOVA_NODE_ID: node.id,
    },
  };
}

/** The network of one run of code. On a laptop the hosts of credentials are often on the sandbox's machine. */
export function networkOf(
  allow: readonly string[] | undefined,
  { addresses }: Pick<Turn, "addresses">,
  { hosts }: Pick<CredentialOverlay, "hosts"> = { hosts: [] },
): Pick<RunRequest, "network" | "near"> {
  if (allow) return { network: { allow: [...allow], ...(addresses && { addresses }) } };
  return hosts.length > 0 ? { near: [...hosts] } : {};
}

/** The request of a node whose author wrote its code. */
export function codeRequest(
  task: Task,
  { turn }: Pick<Attempt, "turn">,
  { input, restartKey, overlay, io, allow }: TaskInput & { allow: readonly string[] | undefined },
): RunRequest {
  const { id, timeoutSeconds } = task.node;
  const { code, file = `${id}.py` } = codeOf(task.node);
  const run = { step: 0, code, fileName: file, timeoutSeconds, ...networkOf(allow, turn, overlay) };
  const request = requestFor({ ...task, restartKey }, turn, run, input.slots(), io);
  return isFollowedByEnds(task) ? { ...request, isLast: true } : request;
}

/** Whether every edge from a node of the main line leads to an end. */
function isFollowedByEnds({ position: { at }, edges, version: { workflow } }: Task): boolean {
  const ends = new Set(workflow.nodes.flatMap(({ id, type }) => (type === "end" ? [id] : [])));
  return at.scope === "" && edges.length > 0 && edges.every(({ to }) => ends.has(to));
}

function codeOf({ id, executor }: TaskNode) {
  if (executor.kind === "code") return executor;
  throw new NovaError("ChainBroken", `node "${id}" is to run code of its own, and has none`);
}

/** Fires when the time of code that started at `since` is over. The clock is read once, since it may jump. */
export function timeLimit(
  { clock, timer }: Pick<Ports, "clock" | "timer">,
  since: string,
  timeoutSeconds: number,
): AbortSignal {
  const wholeMs = (timeoutSeconds + graceSeconds) * 1000;
  const leftMs = Date.parse(since) + wholeMs - clock.now();
  return leftMs <= 0 ? AbortSignal.abort() : timer.timeout(Math.min(wholeMs, leftMs));
}

/** The failure of a node whose sandbox gave no result in time. */
export function overdueReason(timeoutSeconds: number) {
  const message = `its sandbox gave no result within the timeout of ${timeoutSeconds} s and ${graceSeconds} s more, and was killed - raise "timeout" if the code needs longer, or make what it reads and sets smaller`;
  return { class: "NodeTimeout", message } as const;
}

/** The failure of a node whose sandbox was gone when a delivery looked for it after the timeout. */
export function goneReason(timeoutSeconds: number) {
  const message = `its sandbox ended after the timeout of ${timeoutSeconds} s without a result - raise "timeout" or make the code faster`;
  return { class: "NodeTimeout", message } as const;
}

/** The failure of a node whose sandbox is gone while its code may have been running. */
export function lostReason({ sandbox }: Turn) {
  const message = `the sandbox ${sandbox} was lost while the node's code may have been running - declare "effects": false if it may run again`;
  return { class: "NodeInterrupted", message } as const;
}

/** Fires when code that outlives a Lambda has been followed for long enough. */
export type FollowTime = () => AbortSignal;

const followMs = 10_000;

/** Short code ends within this time, and waiting costs little. */
export const tenSeconds: FollowTime = () => AbortSignal.timeout(followMs);

/** The time for which a delivery follows code that may outlive it. It waits until large values on their way have arrived. */
export class Follow {
  readonly signal: AbortSignal;
  readonly #end = new AbortController();
  readonly #over: AbortSignal;
  #underWay = 0;

  constructor(lambda: AbortSignal, time: FollowTime) {
    this.signal = AbortSignal.any([lambda, this.#end.signal]);
    this.#over = time();
    this.#over.addEventListener("abort", () => this.#look(), { once: true });
    this.#look();
  }

  /** Watches the values that pass to and from the code. */
  watch(io: RunIo): RunIo {
    return {
      outputs: (node) => io.outputs(node),
      outputNames: () => io.outputNames(),
      taskUrl: (node) => io.taskUrl(node),
      openBlob: async (ref) => this.#passing(await io.openBlob(ref)),
      storeBlob: (ref, body) => io.storeBlob(ref, this.#passing(body)),
    };
  }

  async *#passing(body: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
    this.#underWay++;
    try {
      yield* body;
    } finally {
      this.#underWay--;
      this.#look();
    }
  }

  #look(): void {
    if (this.#over.aborted && this.#underWay === 0) this.#end.abort();
  }
}

/** The signal that ends this delivery's run of the code. Only code that may outlive a Lambda has a `follow`. */
export function followRun(
  node: TaskNode,
  signal: AbortSignal,
  followTime: FollowTime,
): { signal: AbortSignal; follow?: Follow } {
  if (!isLong(node)) return { signal };
  const follow = new Follow(signal, followTime);
  return { signal: follow.signal, follow };
}
