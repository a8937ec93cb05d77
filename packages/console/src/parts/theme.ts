export const themes = ["auto", "light", "dark"] as const;
export type Theme = (typeof themes)[number];

const storageKey = "nova-theme";

export function readTheme(): Theme {
  const storedTheme = localStorage.getItem(storageKey);
  return themes.find((theme) => theme === storedTheme) ?? "auto";
}

/** Applies a theme and remembers it; "auto" follows the system. */
export function applyTheme(theme: Theme): void {
  if (theme === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  localStorage.setItem(storageKey, theme);
}

export function nextTheme(theme: Theme): Theme {
  return themes[(themes.indexOf(theme) + 1) % themes.length] as Theme;
}
