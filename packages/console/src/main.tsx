import { createRoot } from "react-dom/client";
import { exchange, keepKey, takeCode } from "./api/session.ts";
import { App } from "./app.tsx";
import { keptTheme, showTheme } from "./parts/theme.ts";
import "./design.css";

showTheme(keptTheme());
const problem = await signInByLink();
const root = document.getElementById("root");
if (root) createRoot(root).render(<App problem={problem} />);

/** Answers why the link of this address signs nobody in; undefined where it does, or is none. */
async function signInByLink(): Promise<string | undefined> {
  const code = takeCode();
  if (code === undefined) return undefined;
  try {
    keepKey(await exchange(code));
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
