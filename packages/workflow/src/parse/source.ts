import type { NodeType } from "../workflow.ts";

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
