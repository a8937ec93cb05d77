import { ApiProblem } from "@nova/client";
import { type FormEvent, type JSX, useState } from "react";
import { novaFor } from "../../api/nova.ts";
import { Button } from "../../parts/button.tsx";
import { Icon } from "../../parts/icon.tsx";
import { sentenceOf } from "../../parts/states.tsx";
import { texts } from "../../texts.ts";
import "./sign-in.css";

/** Takes a key that its server knows. */
export function SignIn({ problem, onKey }: { problem?: string | undefined; onKey(key: string): void }): JSX.Element {
  const [key, setKey] = useState("");
  const [refused, setRefused] = useState(problem);
  const [isChecking, setChecking] = useState(false);
  const signIn = async (event: FormEvent) => {
    event.preventDefault();
    setChecking(true);
    const trouble = await troubleWith(key.trim());
    setChecking(false);
    if (trouble === undefined) onKey(key.trim());
    else setRefused(trouble);
  };
  return (
    <main className="sign-in">
      <form className="sign-in-card" onSubmit={signIn}>
        <span className="brand-mark">
          <Icon name="spark" size={18} />
        </span>
        <h1>{texts.signIn.title}</h1>
        <p className="quiet">{texts.signIn.hint}</p>
        <label>
          <span>{texts.signIn.key}</span>
          <input
            type="password"
            name="nova-key"
            value={key}
            autoComplete="current-password"
            spellCheck={false}
            placeholder="nova_…"
            required
            aria-describedby={refused ? "sign-in-trouble" : undefined}
            onChange={(event) => setKey(event.target.value)}
          />
        </label>
        {refused && (
          <p id="sign-in-trouble" className="sign-in-trouble" role="alert">
            {refused}
          </p>
        )}
        <Button submit tone="main" disabled={isChecking}>
          {isChecking ? texts.signIn.checking : texts.signIn.button}
        </Button>
      </form>
    </main>
  );
}

/** The cheapest question that needs a key. */
async function troubleWith(key: string): Promise<string | undefined> {
  try {
    const { api, ask } = novaFor(key);
    await ask(api.GET("/executions", { params: { query: { limit: 1 } } }));
    return undefined;
  } catch (error) {
    return error instanceof ApiProblem && error.status === 401 ? texts.signIn.refused : sentenceOf(error);
  }
}
