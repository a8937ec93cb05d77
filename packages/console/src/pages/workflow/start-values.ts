import { type AnyDraft, type Draft, type Field, isBlank } from "../../parts/form/form.ts";
import { texts } from "../../texts.ts";
import { deriveSlug } from "../workflows/workflow-files.ts";

const words = texts.workflows.begin;

/** A value with a key that the inputs do not declare. */
export interface Extra {
  id: number;
  key: string;
  draft: AnyDraft;
}

let lastId = 0;

export function createExtra(
  key = "",
  draft: AnyDraft = { kind: "any", mode: "text", text: "", file: undefined },
): Extra {
  return { id: ++lastId, key, draft };
}

function isUsed({ key, draft }: Extra): boolean {
  return key !== "" || !isBlank(draft);
}

/** Creates a form field for each row in which a user can add a key. An empty row is optional, so it is not sent. */
export function createExtraFields(extras: readonly Extra[]): Field[] {
  return extras.map((extra) => ({
    key: extra.key,
    label: extra.key,
    description: undefined,
    initial: undefined,
    isRequired: isUsed(extra),
    shape: { kind: "any" },
  }));
}

/** Finds problems in the rows in which a user adds keys, by the id of the input. */
export function checkExtras(extras: readonly Extra[], fields: readonly Field[]): Map<string, string> {
  const usedKeys = new Set(fields.map(({ key }) => key));
  const problems = new Map<string, string>();
  for (const extra of extras.filter(isUsed)) {
    const { id, key, draft } = extra;
    if (key === "") problems.set(`${id}.key`, texts.form.problems.required);
    else if (usedKeys.has(key)) problems.set(`${id}.key`, words.keyTwice);
    usedKeys.add(key);
    const sentence = checkExtraValue(draft);
    if (sentence !== undefined) problems.set(`${id}.value`, sentence);
  }
  return problems;
}

function checkExtraValue(draft: AnyDraft): string | undefined {
  if (draft.mode === "text") return undefined;
  if (draft.mode === "file") return draft.file ? undefined : texts.form.problems.required;
  try {
    JSON.parse(draft.text);
    return undefined;
  } catch {
    return texts.form.problems.json;
  }
}

interface Values {
  drafts: readonly Draft[];
  extras: readonly Extra[];
  allowsMore: boolean;
}

/** Puts each file into the next empty value that accepts files, and the remaining files into new rows. */
export function placeFiles({ drafts, extras, allowsMore }: Values, files: readonly File[]) {
  const remaining = [...files];
  const filled = (draft: AnyDraft): AnyDraft => {
    const file = isBlank(draft) ? remaining.shift() : undefined;
    return file ? { ...draft, mode: "file", file } : draft;
  };
  const placed = drafts.map((draft) => (draft.kind === "any" ? filled(draft) : draft));
  const rows = extras.map((extra) => {
    const draft = filled(extra.draft);
    const { file } = draft;
    return { ...extra, draft, key: extra.key === "" && file ? deriveKey(file) : extra.key };
  });
  const more = allowsMore
    ? remaining.map((file) => createExtra(deriveKey(file), { kind: "any", mode: "file", text: "", file }))
    : [];
  return { drafts: placed, extras: [...rows, ...more] };
}

/** Derives a key from a file name: `Invoice 7.pdf` becomes `invoice_7`. */
function deriveKey({ name }: File): string {
  const slug = deriveSlug(name.replace(/\.[^.]*$/, ""));
  return slug.replaceAll("-", "_").replace(/_+$/, "");
}
