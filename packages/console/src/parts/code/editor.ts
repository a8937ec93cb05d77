import { python } from "@codemirror/lang-python";
import { HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import { unifiedMergeView } from "@codemirror/merge";
import { EditorState, type Extension } from "@codemirror/state";
import { EditorView, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";

/** Of a diff: what the code was before. */
export interface Shown {
  code: string;
  before?: string | undefined;
  label: string;
}

const colours = HighlightStyle.define([
  { tag: [tags.keyword, tags.operatorKeyword, tags.controlKeyword], color: "var(--code-keyword)" },
  { tag: [tags.string, tags.special(tags.string)], color: "var(--code-string)" },
  { tag: [tags.number, tags.bool, tags.null], color: "var(--code-number)" },
  { tag: tags.comment, color: "var(--code-comment)", fontStyle: "italic" },
  { tag: [tags.function(tags.variableName), tags.definition(tags.variableName)], color: "var(--code-name)" },
]);

const look = EditorView.theme({
  "&": { fontSize: "12px", backgroundColor: "transparent" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.6" },
  ".cm-gutters": { backgroundColor: "transparent", border: "0", color: "var(--text-3)" },
  ".cm-changedLine, .cm-insertedLine": { backgroundColor: "var(--ok-soft)" },
  ".cm-deletedChunk": { backgroundColor: "var(--bad-soft)" },
  "&.cm-focused": { outline: "none" },
});

/**
 * Shows Python, or what has changed in it, to be read. Inside of a shadow root its styles are sheets that scripts make, which
 * the policy of the page allows; outside it would need `style` elements.
 */
export function showCode(root: ShadowRoot, { code, before, label }: Shown): () => void {
  const reading: Extension[] = [
    ...[
      EditorState.readOnly.of(true),
      EditorView.editable.of(false),
      EditorView.contentAttributes.of({ tabindex: "0", "aria-label": label }),
    ],
    ...[lineNumbers(), python(), syntaxHighlighting(colours), look],
    ...(before === undefined ? [] : [unifiedMergeView({ original: before, mergeControls: false })]),
  ];
  const view = new EditorView({ root, parent: root, state: EditorState.create({ doc: code, extensions: reading }) });
  return () => view.destroy();
}
