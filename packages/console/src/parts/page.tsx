import { useMutation } from "@tanstack/react-query";
import { type FormEvent, type JSX, type ReactNode, useId } from "react";
import { Link } from "wouter";
import { useIsLost } from "../api/contact.ts";
import { texts } from "../texts.ts";
import { Button } from "./button.tsx";
import { Icon } from "./icon.tsx";
import { ErrorNote } from "./states.tsx";

interface PageHeadProps {
  title: ReactNode;
  /** A link to the list that contains the page. */
  back?: { to: string; label: string };
  className?: string;
  /** A text in a less visible colour beside the title. */
  note?: string | undefined;
  /** Content beside the title. */
  children?: ReactNode;
  end?: ReactNode;
}

export function PageHead({ title, back, className = "", note, children, end }: PageHeadProps): JSX.Element {
  return (
    <header className={`page-head bar row ${className}`}>
      {back && (
        <Link href={back.to} className="icon-button" aria-label={back.label} title={back.label}>
          <Icon name="back" />
        </Link>
      )}
      <h1>{title}</h1>
      {note !== undefined && <span className="quiet">{note}</span>}
      {children}
      {end && <span className="actions">{end}</span>}
    </header>
  );
}

/** Marks a page that refreshes automatically, while the server answers. */
export function LiveMark(): JSX.Element | null {
  if (useIsLost()) return null;
  return (
    <span className="row quiet small">
      <i className="dot tone-ok" />
      {texts.common.live}
    </span>
  );
}

/** The content of a page in one column. */
export function PageColumn({ children }: { children: ReactNode }): JSX.Element {
  return (
    <div className="page-body">
      <div className="page-column">{children}</div>
    </div>
  );
}

interface CardProps {
  title: string;
  hint?: ReactNode;
  /** Actions at the right end of the header. */
  end?: ReactNode;
  children: ReactNode;
}

/** A titled section of a page. */
export function Card({ title, hint, end, children }: CardProps): JSX.Element {
  const id = useId();
  return (
    <section className="card" aria-labelledby={id}>
      <header className="card-head line">
        <h2 id={id}>{title}</h2>
        {hint && <span className="quiet small">{hint}</span>}
        {end && <span className="actions">{end}</span>}
      </header>
      {children}
    </section>
  );
}

/** A label, its value, and CSS classes of the value. A fact without a value is not shown. */
export type Fact = readonly [label: string, value: ReactNode, look?: string];

interface FactsProps {
  className?: string;
  facts: readonly Fact[];
  /** CSS classes of each fact. */
  factLook?: string;
}

export function Facts({ className, facts, factLook }: FactsProps): JSX.Element {
  return (
    <dl className={className}>
      {facts.map(([label, value, look], index) =>
        value ? (
          // biome-ignore lint/suspicious/noArrayIndexKey: facts never change their order
          <div key={index} className={factLook}>
            <dt>{label}</dt>
            <dd className={look}>{value}</dd>
          </div>
        ) : null,
      )}
    </dl>
  );
}

interface SaveFormProps {
  /** Whether there is a valid change to save. */
  canSave: boolean;
  save(): Promise<unknown>;
  /** The label of the button; default: Save. */
  action?: string;
  /** A second button, which discards the change. */
  discard?: { label: string; run(): void } | undefined;
  className?: string;
  children: ReactNode;
}

/** A form with its own save button. */
export function SaveForm(props: SaveFormProps): JSX.Element {
  const { canSave, save, action = texts.common.save, discard, className = "card-body stack loose", children } = props;
  const request = useMutation({ mutationFn: save });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (canSave) request.mutate();
  };
  const runDiscard = () => {
    request.reset();
    discard?.run();
  };
  return (
    <form className={className} onSubmit={submit}>
      {children}
      <ErrorNote error={request.error} />
      <div className="line">
        <Button submit tone="main" disabled={!canSave || request.isPending}>
          {action}
        </Button>
        {discard && (
          <Button tone="ghost" onClick={runDiscard}>
            {discard.label}
          </Button>
        )}
        <span role="status" className="row tight ok">
          {request.isSuccess && !canSave && (
            <>
              <Icon name="check" size={14} /> {texts.common.saved}
            </>
          )}
        </span>
      </div>
    </form>
  );
}
