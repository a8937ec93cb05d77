import type { NodeKind } from "../authored/kind.ts";
import type { Finding } from "../findings/finding.ts";
import type { Condition, Edge, Node, NodeType } from "../workflow.ts";
import type { PartOfDraft } from "./part.ts";

/** The authored form: the JSON and the files beside it, by path relative to the JSON's folder, with `/`. */
export interface WorkflowSource {
  text: string;
  /** Name of the JSON file or program, for findings. */
  fileName: string;
  /** The program that made `text`. Findings name its lines. */
  program?: string;
  /** Name of the folder (or of a single JSON file, without `.json`): the last resort for an id. */
  folder?: string;
  /** `.py`, `.txt` and `.md` files, including `lib/`; the lock file and the locked code. */
  files: Record<string, string>;
  /** True for a definition from the API: its requirements may name no local file. */
  isSent?: true;
  /** The part of a draft that will run. */
  part?: PartOfDraft;
  /** True if no model may be asked here (`NOVA_MODELS=off`). */
  modelsOff?: true;
}

/** Python of a workflow, for a check of Python. It is present even if the graph has errors. */
export interface PythonSource {
  /** Absent for a module of `lib/`. */
  node?: { id: string; type: NodeType };
  code: string;
  /** File with the code; absent if the code is in the JSON, at `path`. */
  file?: string;
  path: string;
}

/** A node, as far as it could be read: enough for checks of the graph even if its fields are wrong. */
export interface ReadNode {
  path: string;
  id?: string;
  kind?: NodeKind;
  onError?: string;
  /** The complete node, without errors of its own. */
  node?: Node;
  python?: PythonSource;
  /** Nodes and edges of a map. */
  body?: ReadBody;
  findings: Finding[];
}

/** An edge, as far as it could be read. */
export interface ReadEdge {
  path: string;
  from?: string;
  to?: string;
  condition?: Condition;
  /** True for an edge with a `max`: it leads back, and checks of the graph's shape leave it out. */
  repeats: boolean;
  edge?: Edge;
  findings: Finding[];
}

/** The nodes and edges of the workflow or of a map. */
export interface ReadBody {
  /** Path of the list of nodes. */
  path: string;
  /** True if both lists are present. */
  isWhole: boolean;
  nodes: ReadNode[];
  edges: ReadEdge[];
}
