import { spawn } from "node:child_process";

/** How long a launcher may take to report that there is no browser. */
const launchMsUsual = 1_500;

/** Opens a page in the user's browser; false if none could be started. Ask first: the URL may be untrusted. */
export function openBrowser(page: URL, launchMs: number = launchMsUsual): Promise<boolean> {
  // No shell: the URL may be untrusted.
  const child = spawn(process.platform === "darwin" ? "open" : "xdg-open", [page.href], {
    stdio: "ignore",
    detached: true,
  });
  child.unref();
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(true), launchMs);
    const end = (isOpen: boolean): void => {
      clearTimeout(timer);
      resolve(isOpen);
    };
    child.on("error", () => end(false));
    child.on("exit", (code) => end(code === 0));
  });
}
