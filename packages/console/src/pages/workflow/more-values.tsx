import { Button, IconButton } from "../../parts/button.tsx";
import type { Problems } from "../../parts/form/form.ts";
import { AnyInput, Trouble } from "../../parts/form/form-fields.tsx";
import { texts } from "../../texts.ts";
import { createExtra, type Extra } from "./start-values.ts";

export interface MoreValuesProps {
  extras: readonly Extra[];
  onChange(extras: readonly Extra[]): void;
  problems: Problems;
  /** Whether values may be files. */
  takesFiles?: boolean;
  words: { more: string; moreHint: string; remove: string; add: string };
}

/** Rows for keys of the context with their values. */
export function MoreValues({ extras, onChange, words, ...row }: MoreValuesProps) {
  return (
    <fieldset className="field">
      <legend>{words.more}</legend>
      <p className="field-hint">{words.moreHint}</p>
      <div className="stack start">
        {extras.map((extra, index) => (
          <div key={extra.id} className="form-item">
            <ExtraRow extra={extra} {...row} onChange={(changed) => onChange(extras.with(index, changed))} />
            <IconButton
              icon="cross"
              label={words.remove}
              onClick={() => onChange(extras.filter(({ id }) => id !== extra.id))}
            />
          </div>
        ))}
        <Button icon="plus" onClick={() => onChange([...extras, createExtra()])}>
          {words.add}
        </Button>
      </div>
    </fieldset>
  );
}

interface ExtraRowProps extends Pick<MoreValuesProps, "problems" | "takesFiles"> {
  extra: Extra;
  onChange(extra: Extra): void;
}

function ExtraRow({ extra, problems, takesFiles = false, onChange }: ExtraRowProps) {
  const words = texts.workflows.begin;
  const { id, key, draft } = extra;
  const [badKey, badValue] = [problems.get(`${id}.key`), problems.get(`${id}.value`)];
  const inputId = `start-more-${id}`;
  return (
    <div className="start-row">
      <div>
        <input
          className="input mono"
          aria-label={words.key}
          placeholder={words.key}
          aria-invalid={badKey !== undefined || undefined}
          aria-describedby={badKey && `${inputId}-key-trouble`}
          autoComplete="off"
          spellCheck={false}
          value={key}
          onChange={(event) => onChange({ ...extra, key: event.target.value })}
        />
        <Trouble inputId={`${inputId}-key`} text={badKey} />
      </div>
      <div>
        <AnyInput
          draft={draft}
          takesFiles={takesFiles}
          labelled={{
            inputId,
            label: key === "" ? words.value : key,
            isRequired: true,
            isBad: badValue !== undefined,
            about: badValue && `${inputId}-trouble`,
          }}
          onChange={(changed) => onChange({ ...extra, draft: changed })}
        />
        <Trouble inputId={inputId} text={badValue} />
      </div>
    </div>
  );
}
