import { python } from "@codemirror/lang-python";
import { HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import { unifiedMergeView } from "@codemirror/merge";
import { EditorState, type Extension } from "@codemirror/state";
import { EditorView, highlightSpecialChars, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";

export interface Diff {
  before: string;
  after: string;
  /** The accessible name of the editor. */
  label: string;
}

/** Characters that `UntrustedText` shows by number: they could reorder a line. */
const steering = /[\u200b-\u200f\u202a-\u202e\u2060-\u2069]/g;

/** Shows two Python texts as one, with removed and added lines. */
export function showDiff(host: HTMLElement, { before, after, label }: Diff): EditorView {
  const merge = unifiedMergeView({
    original: before,
    mergeControls: false,
    gutter: true,
    collapseUnchanged: { margin: 3, minSize: 6 },
  });
  return show(host, after, label, merge);
}

/** Shows a read-only Python text. */
export function showCode(host: HTMLElement, { code, label }: { code: string; label: string }): EditorView {
  return show(host, code, label, []);
}

/** Creates the editor in a shadow root, because the page's policy forbids styles that scripts add to the document. */
function show(host: HTMLElement, doc: string, label: string, more: Extension): EditorView {
  const root = host.shadowRoot ?? host.attachShadow({ mode: "open" });
  const extensions = [
    lineNumbers(),
    highlightSpecialChars({ addSpecialChars: steering }),
    python(),
    syntaxHighlighting(colours),
    look,
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
