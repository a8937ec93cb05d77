import { listElements, listMembers, readKind } from "../../json/raw.ts";
import type { Field, FieldShape } from "./schema.ts";

/** The current input of a form, as typed. */
export type Draft =
  | { kind: "scalar"; text: string }
  | AnyDraft
  | { kind: "list"; elements: readonly Element[] }
  /** One draft per field, in the order of the fields. */
  | { kind: "object"; members: readonly Draft[] };

export interface AnyDraft {
  kind: "any";
  mode: AnyMode;
  text: string;
  file: File | undefined;
}

export type AnyMode = "text" | "json" | "file";

export interface Element {
  id: number;
  draft: Draft;
}

let lastId = 0;

export function createElement(shape: FieldShape, json?: string): Element {
  return { id: ++lastId, draft: createDraft(shape, json) };
}

/** Creates the initial draft of a value from its default, which is JSON. */
export function createDraft(shape: FieldShape, json?: string): Draft {
  switch (shape.kind) {
    case "list":
      return {
        kind: "list",
        elements:
          json !== undefined && readKind(json) === "list"
            ? listElements(json).map((element) => createElement(shape.element, element))
            : [],
      };
    case "object":
      return { kind: "object", members: createMembers(shape.fields, json) };
    case "any":
      return { kind: "any", mode: json === undefined ? "text" : "json", text: json ?? "", file: undefined };
    case "choice":
    case "boolean":
      return { kind: "scalar", text: json ?? "" };
    default:
      return { kind: "scalar", text: renderDefault(shape, json) };
  }
}

export function createDrafts(fields: readonly Field[]): readonly Draft[] {
  return createMembers(fields, undefined);
}

function createMembers(fields: readonly Field[], json: string | undefined): readonly Draft[] {
  const members = json !== undefined && readKind(json) === "object" ? listMembers(json) : [];
  return fields.map(({ key, shape, initial }) =>
    createDraft(shape, members.find((one) => one.key === key)?.text ?? initial),
  );
}

function renderDefault(shape: FieldShape, json: string | undefined): string {
  if (json === undefined) return "";
  if (readKind(json) !== "text") return readKind(json) === "number" && shape.kind === "number" ? json : "";
  const text = JSON.parse(json) as string;
  return shape.kind === "text" && shape.input === "datetime-local" ? formatLocalTime(text) : text;
}

/** Formats a time for an input of type `datetime-local`, in the viewer's time zone. */
function formatLocalTime(text: string): string {
  const at = new Date(text);
  if (Number.isNaN(at.getTime())) return "";
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

/** Whether a draft is empty. Empty optional values are not sent. */
export function isBlank(draft: Draft): boolean {
  switch (draft.kind) {
    case "scalar":
      return draft.text === "";
    case "any":
      return draft.mode === "file" ? draft.file === undefined : draft.text === "";
    case "list":
      return draft.elements.length === 0;
    case "object":
      return draft.members.every(isBlank);
  }
}

/** Lists all chosen files. */
export function listFiles(draft: Draft): File[] {
  if (draft.kind === "any") return draft.mode === "file" && draft.file ? [draft.file] : [];
  if (draft.kind === "list") return draft.elements.flatMap((one) => listFiles(one.draft));
  return draft.kind === "object" ? draft.members.flatMap(listFiles) : [];
}

/** The JSON of each uploaded file, which replaces the file in the context. */
export type Uploaded = ReadonlyMap<File, string>;

const noUploads: Uploaded = new Map();

/** Renders the members of an object without empty optional ones. The drafts must have no problems. */
export function renderMembers(fields: readonly Field[], drafts: readonly Draft[], uploaded = noUploads): string[] {
  return fields.flatMap(({ key, shape, isRequired }, index) => {
    const draft = drafts[index];
    if (!draft || (!isRequired && isBlank(draft))) return [];
    return [`${JSON.stringify(key)}:${renderValue(shape, draft, uploaded)}`];
  });
}

/** Renders a value as JSON. Numbers keep the digits that the user typed. */
export function renderValue(shape: FieldShape, draft: Draft, uploaded = noUploads): string {
  if (draft.kind === "list") {
    const element = shape.kind === "list" ? shape.element : anything;
    return `[${draft.elements.map((one) => renderValue(element, one.draft, uploaded)).join(",")}]`;
  }
  if (draft.kind === "object") {
    const fields = shape.kind === "object" ? shape.fields : [];
    return `{${renderMembers(fields, draft.members, uploaded).join(",")}}`;
  }
  if (draft.kind === "any") {
    if (draft.mode === "file") return (draft.file && uploaded.get(draft.file)) ?? "null";
    return draft.mode === "json" ? draft.text : JSON.stringify(draft.text);
  }
  if (shape.kind !== "text") return draft.text.trim();
  return JSON.stringify(shape.input === "datetime-local" ? new Date(draft.text).toISOString() : draft.text);
}

const anything: FieldShape = { kind: "any" };
