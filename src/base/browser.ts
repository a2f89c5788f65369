import { spawn } from "node:child_process";

/** Time enough for a launcher to find that there is no browser; a browser may run as long as it likes. */
const launchMsUsual = 1_500;

/** Opens a page in the person's browser; false where none could be started. Only after a person has said so: the address may be a stranger's. */
export function openBrowser(page: URL, launchMs: number = launchMsUsual): Promise<boolean> {
  // No shell, for the same reason.
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
