import type { NodeKind } from "../authored/kind.ts";
import type { Finding } from "../findings/finding.ts";
import type { Condition, Edge, Node, NodeType } from "../workflow.ts";
import type { PartOfDraft } from "./part.ts";

/** What a person wrote: the JSON and the files beside it, by path relative to the JSON's folder, with `/`. */
export interface WorkflowSource {
  text: string;
  /** Name of the JSON file, or of the program that made the JSON, for findings. */
  fileName: string;
  /** There where a program made `text`: findings name its lines. */
  program?: string;
  /** Name of the folder (or of a lone JSON file, without `.json`): the last resort for an id. */
  folder?: string;
  /** `.py`, `.txt` and `.md` files, `lib/` included; the lock file and the code that it locks. */
  files: Record<string, string>;
  /** It came over the API: its requirements name no file of the machine that reads it. */
  isSent?: true;
  /** It is a draft of which only this part is to run. */
  part?: PartOfDraft;
  /** Where it is read no model may be asked (`NOVA_MODELS=off`). */
  modelsOff?: true;
}

/** Python of a workflow, for whoever checks Python: there even if the graph has errors. */
export interface PythonSource {
  /** Absent for a module of `lib/`. */
  node?: { id: string; type: NodeType };
  code: string;
  /** File that holds it; absent if it is in the JSON, at `path`. */
  file?: string;
  path: string;
}

/** A node as far as it could be read: enough for questions about the graph even if its fields are wrong. */
export interface ReadNode {
  path: string;
  id?: string;
  kind?: NodeKind;
  onError?: string;
  /** Complete and right in itself. */
  node?: Node;
  python?: PythonSource;
  /** Of a node with nodes of its own. */
  body?: ReadBody;
  findings: Finding[];
}

/** An edge as far as it could be read. */
export interface ReadEdge {
  path: string;
  from?: string;
  to?: string;
  condition?: Condition;
  /** Has a `max`: it leads back, and questions about the shape of the graph leave it out. */
  repeats: boolean;
  edge?: Edge;
  findings: Finding[];
}

/** The nodes and edges of the workflow, or of a map. */
export interface ReadBody {
  /** Path of the list of nodes. */
  path: string;
  /** Neither list is missing. */
  isWhole: boolean;
  nodes: ReadNode[];
  edges: ReadEdge[];
}
