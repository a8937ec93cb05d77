/**
 * How records of a kind stand to this release. `current`: written so today. `older`: read, and written otherwise today.
 * `newer`: of a later release, which this one cannot read. `unknown`: no kind of this release.
 */
export type FormatState = "current" | "older" | "newer" | "unknown";

/** Records of one kind and format that are stored. */
export interface StoredFormat {
  entity: string;
  /** Null where they have none. */
  format: number | null;
  items: number;
  state: FormatState;
}

export interface FormatSurvey {
  /** Reads the whole table, by kind and format. */
  stored(): Promise<StoredFormat[]>;
}
