import { type JSX, type ReactNode, useId } from "react";
import "./sheet.css";

interface CardProps {
  title: string;
  hint?: ReactNode;
  /** At the end of its head: what can be done with all of it. */
  end?: ReactNode;
  children: ReactNode;
}

/** A part of a page, with its name above. */
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
