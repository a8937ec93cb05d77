import type { JSX, RefObject } from "react";
import { Icon } from "./icon.tsx";
import "./filter-bar.css";

interface SearchTextProps {
  value: string | undefined;
  label: string;
  onChange(value: string): void;
  input: RefObject<HTMLInputElement | null>;
}

/** The text field of a bar of filters. */
export function SearchText({ value, label, onChange, input }: SearchTextProps): JSX.Element {
  return (
    <div className="filter-text">
      <Icon name="search" size={14} />
      <input
        ref={input}
        type="search"
        value={value ?? ""}
        placeholder={label}
        aria-label={label}
        onChange={(event) => onChange(event.target.value)}
        onKeyDown={(event) => event.key === "Escape" && event.currentTarget.blur()}
      />
    </div>
  );
}
