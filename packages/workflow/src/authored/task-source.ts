/** What a node does, in the words that were written; its settings are read apart. */
export type TaskSource =
  | { kind: "code"; code: string; file?: string }
  | { kind: "prompt"; prompt: string; file?: string; shared: SharedSettings };

/** What a workflow says for all of its prompt nodes. */
export interface SharedSettings {
  samples: boolean;
  allow: string[];
}
