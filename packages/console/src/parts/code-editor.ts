import { python } from "@codemirror/lang-python";
import { HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import { unifiedMergeView } from "@codemirror/merge";
import { EditorState, type Extension, Text } from "@codemirror/state";
import { Decoration, EditorView, highlightSpecialChars, lineNumbers, WidgetType } from "@codemirror/view";
import { tags } from "@lezer/highlight";

export interface Diff {
  before: string;
  after: string;
  /** The accessible name of the editor. */
  label: string;
}

/**
 * Characters that could reorder the text of a line. The editor shows their numbers instead, as `UntrustedText` does.
 */
const steering = /[\u200b-\u200f\u202a-\u202e\u2060-\u2069]/g;

/** Shows the difference of two Python texts as one text with removed and added lines. */
export function showDiff(host: HTMLElement, { before, after, label }: Diff): EditorView {
  const merge = unifiedMergeView({
    original: before,
    mergeControls: false,
    gutter: true,
    collapseUnchanged: { margin: 3, minSize: 6 },
  });
  return show(host, after, label, merge);
}

/** A read-only Python text. */
export interface ShownCode {
  code: string;
  label: string;
  /** The number of the first line; default: 1. */
  first?: number | undefined;
  /** The number of the line to mark, and a note below it. */
  marked?: number | undefined;
  note?: string | undefined;
}

/** Shows a read-only Python text. Long lines wrap, so that nothing of the marked line is hidden. */
export function showCode(host: HTMLElement, shown: ShownCode): EditorView {
  const { code, label, first = 1 } = shown;
  const numbers = lineNumbers({ formatNumber: (line) => String(line + first - 1) });
  return show(host, code, label, [numbers, EditorView.lineWrapping, markLine(shown)]);
}

/** Marks a line of the code, and adds a note below it. */
function markLine({ code, marked, note }: ShownCode): Extension {
  const doc = Text.of(code.split("\n"));
  if (marked === undefined || marked > doc.lines) return [];
  const { from, to } = doc.line(marked);
  const line = Decoration.line({ attributes: { "data-marked": "true" } }).range(from);
  const widget =
    note === undefined ? [] : [Decoration.widget({ widget: new Note(note), side: 1, block: true }).range(to)];
  return EditorView.decorations.of(Decoration.set([line, ...widget]));
}

class Note extends WidgetType {
  readonly #text: string;

  constructor(text: string) {
    super();
    this.#text = text;
  }

  override toDOM(): HTMLElement {
    const note = document.createElement("div");
    note.className = "cm-note";
    note.textContent = this.#text.replaceAll(steering, "\ufffd");
    return note;
  }
}

/** Returns the shadow root for an editor, because the page's policy forbids styles that scripts add to the document. */
export function createCodeRoot(host: HTMLElement): ShadowRoot {
  return host.shadowRoot ?? host.attachShadow({ mode: "open" });
}

/** Returns the extensions of every editor: its look, and numbers that replace characters which reorder text. */
export function extensionsOfText(): Extension {
  return [lineNumbers(), highlightSpecialChars({ addSpecialChars: steering }), syntaxHighlighting(colours), look];
}

function show(host: HTMLElement, doc: string, label: string, more: Extension): EditorView {
  const root = createCodeRoot(host);
  const extensions = [
    extensionsOfText(),
    python(),
    EditorState.readOnly.of(true),
    EditorView.editable.of(false),
    EditorView.contentAttributes.of({ "aria-label": label, tabindex: "0" }),
    more,
  ];
  return new EditorView({ doc, extensions, root, parent: root });
}

const colours = HighlightStyle.define([
  { tag: [tags.keyword, tags.operatorKeyword, tags.controlKeyword], color: "light-dark(#7b3fb0, #c9a3f2)" },
  { tag: tags.string, color: "light-dark(#0b6b47, #79d3a6)" },
  { tag: [tags.number, tags.bool, tags.null], color: "light-dark(#1a55b8, #8db8ff)" },
  { tag: tags.comment, color: "var(--text-2)" },
]);

const look = EditorView.theme({
  "&": { backgroundColor: "var(--sunken)", color: "var(--text)", fontSize: "var(--size-s)" },
  "&.cm-focused": { outline: "2px solid var(--accent)", outlineOffset: "-2px" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.6" },
  ".cm-content": { padding: "8px 0" },
  "[data-marked]": { backgroundColor: "var(--bad-soft)", boxShadow: "inset 3px 0 0 var(--bad)" },
  ".cm-note": {
    padding: "0 6px",
    backgroundColor: "var(--bad-soft)",
    boxShadow: "inset 3px 0 0 var(--bad)",
    color: "var(--bad)",
    font: "550 var(--size-s) / 1.6 var(--sans)",
    whiteSpace: "pre-wrap",
    overflowWrap: "anywhere",
  },
  ".cm-gutters": { backgroundColor: "var(--sunken)", color: "var(--text-3)", border: "0" },
  ".cm-changedLine, &.cm-merge-b .cm-changedLine": { backgroundColor: "var(--ok-soft)" },
  ".cm-deletedChunk, .cm-deletedLine": { backgroundColor: "var(--bad-soft)" },
  ".cm-changedText, &.cm-merge-b .cm-changedText": {
    background: "color-mix(in srgb, var(--ok) 12%, transparent)",
  },
  ".cm-deletedChunk .cm-deletedText": { background: "color-mix(in srgb, var(--bad) 12%, transparent)" },
  ".cm-deletedChunk del, .cm-deletedLine del": { textDecoration: "none" },
  ".cm-changedLineGutter": { background: "var(--ok)" },
  ".cm-deletedLineGutter": { background: "var(--bad)" },
  ".cm-collapsedLines": {
    background: "var(--hover)",
    color: "var(--text-2)",
    fontFamily: "var(--sans)",
  },
});
