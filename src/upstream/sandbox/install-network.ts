/**
 * Runs an installation in its sandbox and serves its network. It is a process of its own, because an installation may
 * outlive the hall that began it.
 */
import { spawn } from "node:child_process";
import type { BoxedInstallation } from "./install.ts";
import { createBoxNetwork } from "./network.ts";

const { hosts, command } = JSON.parse(process.argv[2] ?? "") as BoxedInstallation;
const [program = "", ...args] = command;
const refused = new Set<string>();
const network = createBoxNetwork(hosts, (host) => {
  if (refused.has(host)) return;
  refused.add(host);
  console.error(`the sandbox of the installation denied connecting to ${host}`);
});
const child = spawn(program, args, {
  stdio: ["ignore", "inherit", "inherit", "ignore", "ignore", "ipc"],
});
network.attach(child);
child.once("error", ({ message }) => {
  console.error(message);
  process.exit(1);
});
child.once("exit", (code) => process.exit(code ?? 1));
