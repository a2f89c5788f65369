import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import { isObject } from "./json.ts";

/** The system's keyring: Secret Service on Linux, Keychain on macOS, Credential Manager on Windows. */
export interface Keyring {
  /** In the order of the accounts; undefined for those it does not have. Throws if it does not answer. */
  read(accounts: readonly string[]): Promise<readonly (string | undefined)[]>;
  /** Reads the value back before it counts as kept. Throws. */
  write(account: string, value: string): Promise<void>;
  /** Throws. */
  remove(account: string): Promise<void>;
}

export const systemKeyring: Keyring = {
  read: (accounts) => ask(accounts.map((account) => ({ account }))),
  async write(account, value) {
    const [, kept] = await ask([{ account, value }, { account }]);
    if (kept !== value) throw new Error("the system keyring did not keep the value");
  },
  async remove(account) {
    await ask([{ account, value: null }]);
  },
};

interface Request {
  readonly account: string;
  /** To write; null removes it. Without a value it is read. */
  readonly value?: string | null;
}

const answerMsMax = 3_000;

/**
 * Runs in a process of its own, because the library blocks its thread while it connects, and a keyring that asks for a
 * password never answers. On Linux the kernel's keyring is not used: it forgets everything at a restart.
 */
const script = `
let text = "";
process.stdin.on("data", (part) => { text += part; }).on("end", () => {
  const { library, requests } = JSON.parse(text);
  const { Entry } = require(library);
  const answers = requests.map(({ account, value }) => {
    const entry = new Entry("guildhall", account, { linux: { store: "secret-service" } });
    if (value === undefined) return entry.getPassword();
    if (value === null) entry.deleteCredential();
    else entry.setPassword(value);
    return null;
  });
  process.stdout.write(JSON.stringify({ answers }));
});
`;

/** Accounts and values pass through pipes: other users can see the arguments of a process. */
async function ask(requests: readonly Request[]): Promise<readonly (string | undefined)[]> {
  const library = createRequire(import.meta.url).resolve("@napi-rs/keyring");
  const child = spawn(process.execPath, ["-e", script], {
    stdio: ["pipe", "pipe", "ignore"],
    timeout: answerMsMax,
    killSignal: "SIGKILL",
  });
  const output = new Promise<string>((resolve, reject) => {
    let text = "";
    child.stdout.setEncoding("utf8").on("data", (part: string) => {
      text += part;
    });
    child.once("error", reject);
    child.once("close", () => resolve(text));
  });
  // It may have ended before it read everything; its answer tells.
  child.stdin.on("error", () => {});
  child.stdin.end(JSON.stringify({ library, requests }));
  const text = await output;
  const answer: unknown = text === "" ? undefined : JSON.parse(text);
  if (!isObject(answer) || !Array.isArray(answer.answers))
    throw new Error("the system keyring did not answer");
  return answer.answers.map((value) => (typeof value === "string" ? value : undefined));
}
