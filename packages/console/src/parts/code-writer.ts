import { autocompletion, type CompletionContext, type CompletionResult } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { python } from "@codemirror/lang-python";
import { indentUnit } from "@codemirror/language";
import { type Diagnostic, setDiagnostics } from "@codemirror/lint";
import { EditorState, Prec } from "@codemirror/state";
import { EditorView, keymap } from "@codemirror/view";
import { createCodeRoot, extensionsOfText } from "./code-editor.ts";

/** A mistake at a line of the text; lines and columns are counted from 1. */
export interface Mark {
  severity: "error" | "warning";
  message: string;
  line: number;
  column: number;
}

export interface Writing {
  text: string;
  language: "python" | "prompt";
  label: string;
  onChange(text: string): void;
  /** Called for Ctrl+Enter, or Cmd+Enter on a Mac. */
  onRun(): void;
  /** Known names: keys of the context for code, and names of nodes and keys for a prompt. */
  names(): readonly string[];
}

export interface Writer {
  destroy(): void;
  /** Replaces the text, for example by the text of another editor. */
  setText(text: string): void;
  mark(marks: readonly Mark[]): void;
  focus(): void;
}

/** Opens an editor for code or a prompt. */
export function openWriter(host: HTMLElement, writing: Writing): Writer {
  const root = createCodeRoot(host);
  const isPython = writing.language === "python";
  const view = new EditorView({
    doc: writing.text,
    root,
    parent: root,
    extensions: [
      Prec.highest(keymap.of([{ key: "Mod-Enter", run: () => writing.onRun() === undefined }])),
      // After Escape, Tab moves the focus out of the editor.
      Prec.high(keymap.of([{ key: "Escape", run: (editor) => editor.setTabFocusMode() === undefined }])),
      history(),
      keymap.of([...defaultKeymap, ...historyKeymap, indentWithTab]),
      indentUnit.of("    "),
      ...(isPython ? [python()] : []),
      // An extension takes precedence over the extensions after it.
      look,
      extensionsOfText(),
      EditorView.lineWrapping,
      EditorState.tabSize.of(4),
      autocompletion({ override: [(context) => completeName(context, isPython, writing.names())], icons: false }),
      EditorView.contentAttributes.of({ "aria-label": writing.label }),
      EditorView.updateListener.of((update) => {
        if (update.docChanged) writing.onChange(update.state.doc.toString());
      }),
    ],
  });
  return {
    destroy: () => view.destroy(),
    focus: () => view.focus(),
    setText(text) {
      if (text === view.state.doc.toString()) return;
      view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text } });
    },
    mark(marks) {
      const found = marks.map((one) => findPlace(view.state, one));
      view.dispatch(setDiagnostics(view.state, found));
    },
  };
}

/** Marks are underlined by CSS, because the page's policy forbids the images that the library uses. */
const look = EditorView.theme({
  "&": { minHeight: "118px" },
  "&.cm-focused": { outline: "none" },
  ".cm-lintRange": { backgroundImage: "none", textDecoration: "underline wavy var(--wait)" },
  ".cm-lintRange-error": { textDecorationColor: "var(--bad)" },
  ".cm-lintPoint::after": { borderBottomColor: "var(--bad)" },
  ".cm-tooltip": { backgroundColor: "var(--raised)", color: "var(--text)", border: "1px solid var(--line-strong)" },
  ".cm-tooltip-autocomplete > ul > li[aria-selected]": { backgroundColor: "var(--accent)", color: "white" },
});

function findPlace({ doc }: EditorState, { severity, message, line, column }: Mark): Diagnostic {
  const { from, to } = doc.line(Math.min(Math.max(line, 1), doc.lines));
  const at = Math.min(from + Math.max(0, column - 1), to);
  return { from: at, to: Math.max(at, to), severity, message };
}

const openedKey = /context(?:\[|\.get\()\s*(["'])([^"'\n]*)$/;
const openedReference = /\{([^{}\n]*)$/;

/** Offers names after `context["` in code, and after `{` in a prompt. */
function completeName(
  context: CompletionContext,
  isPython: boolean,
  names: readonly string[],
): CompletionResult | null {
  const line = context.state.doc.lineAt(context.pos);
  const before = line.text.slice(0, context.pos - line.from);
  const opened = isPython ? openedKey.exec(before) : openedReference.exec(before);
  if (!opened) return null;
  const typed = opened[isPython ? 2 : 1] ?? "";
  const [quote, after] = [opened[1] ?? "", line.text.slice(context.pos - line.from)];
  const close = isPython ? `${quote}${before.includes(".get(") ? ")" : "]"}` : "}";
  const end = after.startsWith(close) ? "" : close;
  return {
    from: context.pos - typed.length,
    options: names.map((name) => ({ label: name, apply: name + end })),
    validFor: /^[^"'{}\n]*$/,
  };
}
