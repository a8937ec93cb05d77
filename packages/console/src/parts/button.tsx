import type { ButtonHTMLAttributes, JSX, ReactNode } from "react";
import { Icon, type IconName } from "./icon.tsx";
import "./button.css";

type Given = Omit<ButtonHTMLAttributes<HTMLButtonElement>, "type" | "className">;

interface ButtonProps extends Given {
  icon?: IconName;
  tone?: "plain" | "main" | "danger" | "ghost";
  submit?: boolean;
  children: ReactNode;
}

export function Button({ icon, tone = "plain", submit = false, children, ...given }: ButtonProps): JSX.Element {
  return (
    <button {...given} type={submit ? "submit" : "button"} className={`button button-${tone}`}>
      {icon && <Icon name={icon} size={14} />}
      {children}
    </button>
  );
}

interface IconButtonProps extends Given {
  icon: IconName;
  label: string;
}

export function IconButton({ icon, label, ...given }: IconButtonProps): JSX.Element {
  return (
    <button {...given} type="button" className="icon-button" aria-label={label} title={label}>
      <Icon name={icon} />
    </button>
  );
}
