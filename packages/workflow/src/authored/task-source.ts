/** What a node does, in the words that were written; its settings are read apart. */
export type TaskSource =
  | { kind: "code"; code: string; file?: string; shared: SharedSettings }
  | { kind: "prompt"; prompt: string; file?: string; shared: SharedSettings };

/** What a workflow says for all of its nodes that run code. */
export interface SharedSettings {
  samples: boolean;
  /** Absent: it does not speak of the network. */
  allow?: string[];
}
