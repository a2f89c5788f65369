import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { makePrivateFolder } from "../../base/files.ts";
import { findOnPath } from "./bubblewrap.ts";
import { judgePath, type SandboxDenial } from "./denials.ts";
import type { Profile } from "./profile.ts";

/**
 * A record of the files that a server looked for and did not get, made by strace around its sandbox. It also has what
 * the server never says. It needs no further rights than the user's, and is only used to learn: it is slow.
 */
export interface Trace {
  /** The program that records, with its arguments. */
  readonly tracer: readonly string[];
  read(profile: Profile): readonly SandboxDenial[];
  close(): void;
}

/** Undefined where strace is missing, or may not trace. Its file is in `folder`, which no server sees. */
export function openTrace(folder: string): Trace | undefined {
  const strace = findOnPath("strace");
  if (strace === undefined || !mayTrace(strace)) return undefined;
  const own = mkdtempSync(join(makePrivateFolder(folder), "trace-"));
  const file = join(own, "calls");
  return {
    tracer: [strace, "-f", "-qq", "-Z", "-s", "4096", "-e", "trace=%file", "-o", file, "--"],
    read: (profile) => parseTrace(readFileSync(file, "latin1"), profile),
    close: () => rmSync(own, { recursive: true, force: true }),
  };
}

function mayTrace(strace: string): boolean {
  try {
    execFileSync(strace, ["-qq", "-e", "trace=none", "-o", "/dev/null", "/bin/true"], {
      stdio: "ignore",
    });
    return true;
  } catch {
    return false;
  }
}

const failed = /"((?:[^"\\]|\\.)*)".* = -1 (ENOENT|EACCES|EROFS|EPERM)\b/;
const writes = /O_WRONLY|O_RDWR|O_CREAT|\b(mkdir|rename|unlink|link|symlink|truncate|chmod|rmdir)/;
/** Looked for in every folder above, as a matter of routine. */
const routine = /\/(package\.json|node_modules|\.npmrc|tsconfig\.json|pyvenv\.cfg|\.git)$/;

export function parseTrace(text: string, profile: Profile): readonly SandboxDenial[] {
  const found = new Map<string, SandboxDenial>();
  for (const line of text.split("\n")) {
    const [, path = "", code = ""] = failed.exec(line) ?? [];
    if (!path.startsWith("/") || routine.test(path) || /^\/(newroot|oldroot)/.test(path)) continue;
    const denial = judgePath(path, profile, code === "EROFS" || writes.test(line));
    if (denial) found.set(`${denial.kind} ${denial.what}`, denial);
  }
  return [...found.values()];
}
