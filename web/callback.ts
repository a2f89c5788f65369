import { type StartedSignIn, signIn } from "./api.ts";

/**
 * The way back from an issuer: `/oauth/callback` is this page. A sign-in ends in the tab that began it, which alone
 * has its secrets. Any other answer belongs to a login to a server, which the hall takes only in the session that
 * asked for it.
 */
const path = "/oauth/callback";
const key = "guildhall.sign-in";

let answer: string | undefined;

/** Call it first: the answer must not stay in the address or in the history. */
export function readCallback(): void {
  if (location.pathname !== path) return;
  answer = location.search.slice(1);
  history.replaceState(null, "", isSignIn() ? "/#/sign-in" : "/#/own");
}

/** The answer to a login to a server, once. */
export function takeAnswer(): string | undefined {
  const taken = answer;
  answer = undefined;
  return taken;
}

interface KeptSignIn extends Pick<StartedSignIn, "state" | "verifier"> {
  readonly issuer: string;
  /** The screen that was asked for. */
  readonly hash: string;
}

export function leaveToSignIn(issuer: string, { url, state, verifier }: StartedSignIn): void {
  const kept: KeptSignIn = { issuer, state, verifier, hash: location.hash };
  sessionStorage.setItem(key, JSON.stringify(kept));
  location.assign(url);
}

/** Ends the sign-in that this tab began. Resolves with the screen to show, or undefined if there is none. */
export async function finishSignIn(): Promise<string | undefined> {
  if (answer === undefined || !isSignIn()) return undefined;
  const { hash, ...begun } = JSON.parse(sessionStorage.getItem(key) ?? "") as KeptSignIn;
  sessionStorage.removeItem(key);
  await signIn({ ...begun, answer: takeAnswer() ?? "" });
  return hash.startsWith("#/sign-in") ? "#/overview" : hash;
}

function isSignIn(): boolean {
  const kept = sessionStorage.getItem(key);
  const state = new URLSearchParams(answer).get("state");
  return kept !== null && (JSON.parse(kept) as KeptSignIn).state === state;
}
