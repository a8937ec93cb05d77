import type { JSX, ReactNode } from "react";
import { Link } from "wouter";
import { Icon } from "./icon.tsx";
import { Empty } from "./states.tsx";

interface PageHeadProps {
  title: ReactNode;
  /** The list that the page belongs to. */
  back?: { to: string; label: string };
  /** Beside the title. */
  children?: ReactNode;
  end?: ReactNode;
  /** On a phone its buttons get a line of their own. */
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

interface MissingProps {
  words: { missing: string; missingHint: string; back: string };
  to: string;
}

/** Takes the place of a page about something that is not there. */
export function Missing({ words, to }: MissingProps): JSX.Element {
  return (
    <Empty icon="search" title={words.missing} hint={words.missingHint} isPage>
      <Link href={to} className="button">
        {words.back}
      </Link>
    </Empty>
  );
}
