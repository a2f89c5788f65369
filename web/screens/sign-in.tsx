import { useEffect, useState } from "preact/hooks";
import type { PageError } from "../../src/hall/page/contract.ts";
import { signIn } from "../api.ts";
import { Problem } from "../parts/problem.tsx";
import { go } from "../router.ts";
import { begin, failureOf } from "../store.ts";

/** Signs in with the code of `guildhall open`, or with a token that a person pastes. */
export function SignIn({ code }: { readonly code: string | undefined }) {
  const [token, setToken] = useState("");
  const [error, setError] = useState<PageError>();
  const [isBusy, setBusy] = useState(code !== undefined);

  async function open(given: { code: string } | { token: string }): Promise<void> {
    setBusy(true);
    try {
      await signIn(given);
      go("overview");
      await begin();
    } catch (failure) {
      setError(failureOf(failure) ?? { ...away, next: [] });
    } finally {
      setBusy(false);
    }
  }

  useEffect(() => {
    if (code === undefined) return;
    // The code must not stay in the history of the browser.
    history.replaceState(null, "", "#/sign-in");
    void open({ code });
  }, [code]);

  return (
    <main class="sign-in">
      <form
        class="card"
        onSubmit={(event) => {
          event.preventDefault();
          void open({ token: token.trim() });
        }}
      >
        <div class="stack">
          <h1>Sign in to Guildhall</h1>
          <p class="soft">
            Run <code>guildhall open</code> in the project's folder. It opens this page signed in.
          </p>
        </div>
        {error && <Problem error={error} />}
        <label class="field">
          Or paste a token
          <input
            type="password"
            autocomplete="off"
            value={token}
            onInput={(event) => setToken(event.currentTarget.value)}
          />
          <small>
            <code>guildhall token show</code> prints yours. A token's scopes apply here too.
          </small>
        </label>
        <button type="submit" class="primary" disabled={isBusy || token.trim() === ""}>
          {isBusy ? "Signing in …" : "Sign in"}
        </button>
      </form>
    </main>
  );
}

const away = {
  code: "UNAVAILABLE",
  message: "the hall does not answer",
  hint: "Start it with `guildhall start`.",
} as const;
