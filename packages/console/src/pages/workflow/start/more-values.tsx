import type { JSX } from "react";
import { Button, IconButton } from "../../../parts/button.tsx";
import { AnyInput } from "../../../parts/form/any-input.tsx";
import type { Problems } from "../../../parts/form/problems.ts";
import { texts } from "../../../texts.ts";
import { type Extra, newExtra } from "./values.ts";

const words = texts.workflows.begin;

interface MoreValuesProps {
  extras: readonly Extra[];
  onChange(extras: readonly Extra[]): void;
  problems: Problems;
}

/** Keys of the context that the inputs do not name. */
export function MoreValues({ extras, onChange, problems }: MoreValuesProps): JSX.Element {
  return (
    <fieldset className="form-field start-more">
      <legend className="form-label">{words.more}</legend>
      <p className="form-about">{words.moreHint}</p>
      <div className="form-list">
        {extras.map((extra, index) => (
          <ExtraRow
            key={extra.id}
            extra={extra}
            problems={problems}
            onChange={(changed) => onChange(extras.with(index, changed))}
            onRemove={() => onChange(extras.filter(({ id }) => id !== extra.id))}
          />
        ))}
        <Button icon="plus" onClick={() => onChange([...extras, newExtra()])}>
          {words.add}
        </Button>
      </div>
    </fieldset>
  );
}

interface ExtraRowProps {
  extra: Extra;
  problems: Problems;
  onChange(extra: Extra): void;
  onRemove(): void;
}

function ExtraRow({ extra, problems, onChange, onRemove }: ExtraRowProps): JSX.Element {
  const { id, key, draft } = extra;
  const [badKey, badValue] = [problems.get(`${id}.key`), problems.get(`${id}.value`)];
  const inputId = `start-more-${id}`;
  return (
    <div className="form-item">
      <div className="start-row">
        <div>
          <input
            className="form-input mono"
            aria-label={words.key}
            placeholder={words.key}
            aria-invalid={badKey !== undefined || undefined}
            aria-describedby={badKey === undefined ? undefined : `${inputId}-key-trouble`}
            autoComplete="off"
            spellCheck={false}
            value={key}
            onChange={(event) => onChange({ ...extra, key: event.target.value })}
          />
          {badKey !== undefined && (
            <p id={`${inputId}-key-trouble`} className="form-trouble">
              {badKey}
            </p>
          )}
        </div>
        <div>
          <AnyInput
            {...{ draft, takesFiles: true }}
            labelled={{
              ...{ inputId, label: key === "" ? words.value : key, isRequired: true, isBad: badValue !== undefined },
              about: badValue === undefined ? undefined : `${inputId}-trouble`,
            }}
            onChange={(changed) => onChange({ ...extra, draft: changed })}
          />
          {badValue !== undefined && (
            <p id={`${inputId}-trouble`} className="form-trouble">
              {badValue}
            </p>
          )}
        </div>
      </div>
      <IconButton icon="cross" label={words.remove} onClick={onRemove} />
    </div>
  );
}
