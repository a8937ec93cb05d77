import type { Draft } from "./draft.ts";
import type { Problems } from "./problems.ts";

/** What a view of one value gets. */
export interface ValueProps {
  draft: Draft;
  onChange(draft: Draft): void;
  problems: Problems;
  id: string;
  place: string;
  takesFiles: boolean;
}

/** How an input is known to those who do not see it. */
export interface Labelled {
  inputId: string;
  label: string;
  about: string | undefined;
  isBad: boolean;
  isRequired: boolean;
}
