import { createRoot } from "react-dom/client";
import { finishSignIn, readIssuerAnswer } from "./api/issuer.ts";
import {
  exchangeCode,
  readConfig,
  readPageUrl,
  storeKey,
  storeSession,
  takeLinkCode,
  takeMailedLink,
} from "./api/session.ts";
import { App } from "./app.tsx";
import { applyTheme, readTheme } from "./shell.tsx";
import "./design.css";
import "./layout.css";
import "./shell.css";
import "./parts/controls.css";
import "./parts/content.css";
import "./parts/table.css";
import "./pages/administration.css";
import "./pages/build.css";
import "./pages/code/code.css";
import "./pages/run/run.css";
import "./pages/tasks/tasks.css";
import "./pages/workflow/workflow.css";

applyTheme(readTheme());
const problem = await runSignIn(signInByLink).then((reason) => reason ?? runSignIn(signInByIssuer));
const root = document.getElementById("root");
if (root) createRoot(root).render(<App problem={problem} link={takeMailedLink()} />);

/**
 * Runs a sign-in. Returns the reason if the sign-in fails; undefined if it succeeds or does not apply to this address.
 */
async function runSignIn(signIn: () => Promise<void>): Promise<string | undefined> {
  try {
    await signIn();
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

async function signInByLink(): Promise<void> {
  const code = takeLinkCode();
  if (code !== undefined) storeKey(await exchangeCode(code));
}

/** Removes the issuer's answer from the address and the history before the page uses it. */
async function signInByIssuer(): Promise<void> {
  const answer = readIssuerAnswer(location.search);
  if (!answer) return;
  history.replaceState(null, "", import.meta.env.BASE_URL);
  const { tokens, place } = await finishSignIn(answer, await readConfig(), readPageUrl());
  storeSession(tokens);
  if (place.startsWith(import.meta.env.BASE_URL)) history.replaceState(null, "", place);
}
