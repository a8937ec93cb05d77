/**
 * How records of a kind stand to this release. `current`: written so today. `older`: read, and written otherwise today.
 * `newer`: of a later release, which this one cannot read. `unknown`: no kind of this release.
 */
export const formatStates = ["current", "older", "newer", "unknown"] as const;

export type FormatState = (typeof formatStates)[number];

/** Records of one kind and format that are stored. */
export interface StoredFormat {
  entity: string;
  /** Null where they have none. */
  format: number | null;
  items: number;
  state: FormatState;
}

export interface FormatPage {
  formats: StoredFormat[];
  /** Where the next page begins. */
  cursor?: string;
}

export interface FormatSurvey {
  /** Reads a megabyte of the table. */
  page(after?: string): Promise<FormatPage>;
}
