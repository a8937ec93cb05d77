import { type JSX, type ReactNode, useId } from "react";
import { Link } from "wouter";
import { texts } from "../texts.ts";
import { Icon } from "./icon.tsx";
import { Empty } from "./states.tsx";
import "./page.css";

interface PageHeadProps {
  title: ReactNode;
  /** A link to the list that contains the page. */
  back?: { to: string; label: string };
  /** Content beside the title. */
  children?: ReactNode;
  end?: ReactNode;
  /** On a phone, the buttons get their own line. */
  hasManyActs?: boolean;
}

export function PageHead({ title, back, children, end, hasManyActs }: PageHeadProps): JSX.Element {
  return (
    <header className={hasManyActs ? "page-head page-head-acts" : "page-head"}>
      {back && (
        <Link href={back.to} className="icon-button" aria-label={back.label} title={back.label}>
          <Icon name="back" />
        </Link>
      )}
      <h1>{title}</h1>
      {children}
      {end && <span className="page-head-end">{end}</span>}
    </header>
  );
}

/** Marks a page that refreshes automatically. */
export function LiveMark(): JSX.Element {
  return <span className="live">{texts.common.live}</span>;
}

interface MissingProps {
  words: { missing: string; missingHint: string; back: string };
  to: string;
}

/** Replaces the page of an object that does not exist. */
export function Missing({ words, to }: MissingProps): JSX.Element {
  return (
    <Empty icon="search" title={words.missing} hint={words.missingHint} isPage>
      <Link href={to} className="button">
        {words.back}
      </Link>
    </Empty>
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
      <header className="card-head">
        <h2 id={id}>{title}</h2>
        {hint && <span className="quiet">{hint}</span>}
        {end && <span className="card-head-end">{end}</span>}
      </header>
      {children}
    </section>
  );
}
