import { nodeIndex } from "@nova/workflow";
import { monotonicFactory } from "ulid";
import { sealEntry } from "../chain/seal.ts";
import { blobPages } from "../context/blob-pages.ts";
import { Context } from "../context/context.ts";
import { offloadLargeValues } from "../context/offload.ts";
import { emptyStored, storeContext } from "../context/pages.ts";
import { escapeReferences, referenceText } from "../context/references.ts";
import { type Member, membersOf } from "../json/text.ts";
import { wayOn } from "../node/definition.ts";
import type { BlobHome } from "../ports/blobs.ts";
import type { Execution } from "../ports/executions.ts";
import type { Ports } from "../ports/index.ts";
import type { WorkflowVersion } from "../ports/workflows.ts";
import { refuseMisfits } from "./inputs.ts";

/** Bytes that go under a key of the initial context without passing through memory. */
export interface FileInput {
  key: string;
  sha256: string;
  bytes: number;
  open(): AsyncIterable<Uint8Array>;
}

export interface StartRequest {
  version: WorkflowVersion;
  /** JSON text of an object; its values arrive at the nodes digit for digit. */
  context: string;
  files?: FileInput[];
  client?: string;
}

/** Clients come with a later release; until then everything belongs to this one. */
const defaultClient = "default";
const nextId = monotonicFactory();

/**
 * Link 0 (the start node's entry: the initial context), then the record, then StartExecution: a sweeper
 * repeats what was lost. Throws `InputsRefused`.
 */
export async function startExecution(ports: Ports, request: StartRequest): Promise<Execution> {
  const { version, client = defaultClient, files = [] } = request;
  refuseMisfits(
    version.workflow,
    request.context,
    files.map(({ key }) => key),
  );
  const id = `exec_${nextId(ports.clock.now())}`;
  const home: BlobHome = { client, root: id };
  const startedAt = new Date(ports.clock.now()).toISOString();
  const set = [...(await inlineMembers(ports, home, request.context)), ...(await fileMembers(ports, home, files))];
  await ports.chain.putEntry(
    { execution: id, scope: "", seq: 0 },
    await startEntry(ports, version, id, home, set, startedAt),
  );
  const record: Execution = {
    format: 1,
    id,
    workflowId: version.workflowId,
    version: version.version,
    stateMachineArn: version.stateMachineArn,
    ...home,
    status: "running",
    startedAt,
    open: true,
  };
  await ports.executions.create(record);
  await ports.stateMachines.start(version.stateMachineArn, id, startInput(record));
  return record;
}

/** Input of the state machine; the same each time a start is repeated. */
export function startInput({ id, workflowId, version }: Pick<Execution, "id" | "workflowId" | "version">): string {
  return JSON.stringify({ execution: { id, workflowId, version }, scope: "", seq: 0 });
}

function inlineMembers(ports: Ports, home: BlobHome, context: string): Promise<Member[]> {
  const save = (ref: Parameters<Ports["blobs"]["put"]>[1], body: Uint8Array) => ports.blobs.put(home, ref, body);
  const members = membersOf(escapeReferences(context));
  return Promise.all(members.map(async ({ key, json }) => ({ key, json: await offloadLargeValues(json, save) })));
}

function fileMembers(ports: Ports, home: BlobHome, files: FileInput[]): Promise<Member[]> {
  return Promise.all(
    files.map(async ({ key, sha256, bytes, open }) => {
      await ports.blobs.put(home, { sha256, bytes, type: "bytes" }, open());
      return { key, json: referenceText({ sha256, bytes, type: "bytes" }) };
    }),
  );
}

async function startEntry(
  ports: Ports,
  version: WorkflowVersion,
  id: string,
  home: BlobHome,
  set: Member[],
  timestamp: string,
) {
  const changes = { set, delete: [] };
  const stored = await storeContext(
    new Context().apply(changes, 0),
    emptyStored,
    changes,
    blobPages(ports.blobs, home),
  );
  const node = version.workflow.nodes.find(({ type }) => type === "start");
  const start = node && nodeIndex(version.workflow).get(node.id);
  return sealEntry(
    {
      execution_id: id,
      scope: "",
      seq: 0,
      ...home,
      workflow_id: version.workflowId,
      workflow_version: version.version,
      node_id: node?.id ?? "start",
      node_type: "start",
      status: "success",
      attempt: 1,
      decision_result: null,
      path_taken: start ? wayOn({ version, ...start }) : null,
      timestamp,
      execution_time_ms: 0,
      sandbox_id: null,
      warm: null,
      code: null,
      nodes: 0,
      prev: null,
      steps: [],
    },
    { context: JSON.stringify(stored) },
    ports.blobs,
  );
}
