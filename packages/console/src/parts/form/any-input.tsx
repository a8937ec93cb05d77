import { type DragEvent, type JSX, useState } from "react";
import { texts } from "../../texts.ts";
import { Button, IconButton } from "../button.tsx";
import { Foreign } from "../foreign.tsx";
import { Icon } from "../icon.tsx";
import { Segments } from "../segments.tsx";
import { sizeText } from "../size.ts";
import type { AnyDraft, AnyMode } from "./draft.ts";
import type { Labelled } from "./props.ts";

interface AnyInputProps {
  draft: AnyDraft;
  onChange(draft: AnyDraft): void;
  labelled: Labelled;
  takesFiles: boolean;
}

/** A value whose type nobody has said: a text, JSON as it is written, or the bytes of a file. */
export function AnyInput({ draft, labelled, takesFiles, onChange }: AnyInputProps): JSX.Element {
  const [isOver, setOver] = useState(false);
  const { inputId, label, about, isBad } = labelled;
  const modes: AnyMode[] = takesFiles ? ["text", "json", "file"] : ["text", "json"];
  const take = (file: File | undefined) => {
    if (file) onChange({ ...draft, mode: "file", file });
  };
  const drop = {
    onDragOver(event: DragEvent) {
      event.preventDefault();
      setOver(true);
    },
    onDragLeave: () => setOver(false),
    onDrop(event: DragEvent) {
      event.preventDefault();
      setOver(false);
      take(event.dataTransfer.files[0]);
    },
  };
  return (
    <div className="form-any" data-over={isOver || undefined} {...(takesFiles && drop)}>
      <Segments
        label={texts.form.modeOf(label)}
        choices={modes.map((mode) => [mode, texts.form.modes[mode]] as const)}
        value={draft.mode}
        onChange={(mode) => onChange({ ...draft, mode })}
      />
      {draft.mode === "file" ? (
        <FileInput {...{ draft, labelled, take }} onClear={() => onChange({ ...draft, file: undefined })} />
      ) : (
        <textarea
          id={inputId}
          className={`form-input ${draft.mode === "json" ? "mono" : ""}`}
          rows={draft.mode === "json" ? 3 : 1}
          aria-label={label}
          aria-describedby={about}
          aria-invalid={isBad || undefined}
          spellCheck={draft.mode === "text"}
          value={draft.text}
          onChange={(event) => onChange({ ...draft, text: event.target.value })}
        />
      )}
    </div>
  );
}

interface FileInputProps {
  draft: AnyDraft;
  labelled: Labelled;
  take(file: File | undefined): void;
  onClear(): void;
}

function FileInput({
  draft: { file },
  labelled: { inputId, label, about },
  take,
  onClear,
}: FileInputProps): JSX.Element {
  if (file) {
    return (
      <div className="form-file">
        <Icon name="file" />
        <span className="form-file-name">
          <Foreign text={file.name} />
        </span>
        <span className="quiet">{sizeText(file.size)}</span>
        <IconButton icon="cross" label={texts.form.remove(file.name)} onClick={onClear} />
      </div>
    );
  }
  return (
    <div className="form-drop">
      <input
        id={inputId}
        type="file"
        className="hidden-label"
        tabIndex={-1}
        aria-label={label}
        aria-describedby={about}
        onChange={(event) => take(event.target.files?.[0])}
      />
      <Icon name="upload" />
      <span className="quiet">{texts.form.drop}</span>
      <Button onClick={() => document.getElementById(inputId)?.click()}>{texts.form.chooseFile}</Button>
    </div>
  );
}
