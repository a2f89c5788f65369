import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { summariseDenials } from "../../../src/hall/sandbox-learn.ts";
import type { Runtime } from "../../../src/upstream/sandbox/bubblewrap.ts";
import { confineContainer, isContainer } from "../../../src/upstream/sandbox/container.ts";
import { findDenials } from "../../../src/upstream/sandbox/denials.ts";
import { isAllowed } from "../../../src/upstream/sandbox/network.ts";
import { planBox } from "../../../src/upstream/sandbox/plan.ts";
import { decideSandbox, type SandboxPolicy } from "../../../src/upstream/sandbox/policy.ts";
import { createProfile, describeProfile } from "../../../src/upstream/sandbox/profile.ts";
import { createSystemCallFilter } from "../../../src/upstream/sandbox/seccomp.ts";
import { parseTrace } from "../../../src/upstream/sandbox/trace.ts";
import { approvalOf } from "../../../src/upstream/source.ts";
import { faulty } from "../../servers/upstreams.ts";

/** The rights of a server, from its entry and its approval. */
const home = realpathSync(mkdtempSync(join(tmpdir(), "guildhall-profile-")));
const none = { read: [], write: [], hosts: [] };
const rights = { read: [], write: [], network: { allow: [] }, memoryMb: 4_096 };

beforeAll(() => {
  vi.stubEnv("HOME", home);
  vi.stubEnv("XDG_DATA_HOME", join(home, ".local/share"));
  for (const folder of ["notes", "music", ".ssh", ".local/share/guildhall/trust"])
    mkdirSync(join(home, folder), { recursive: true });
  writeFileSync(join(home, ".ssh/id_rsa"), "key");
  symlinkSync(join(home, "notes"), join(home, "link"));
});
afterAll(() => {
  vi.unstubAllEnvs();
  rmSync(home, { recursive: true, force: true });
});

function profileOf(args: readonly string[], more: Parameters<typeof faulty>[1] = {}) {
  return createProfile("box", { ...faulty(), args, ...more });
}

test("paths and hosts that arguments and variables name are in the profile", () => {
  const env = {
    STORE: join(home, "music/new.json"),
    API: "https://api.example.com/v1",
    DB: "postgres://user:pw@db.example.com/x",
    MODE: "fast",
  };
  const { write, hosts } = profileOf(["~/notes", `--out=${home}/music`, "stdio"], { env });
  expect([...write].sort()).toEqual([join(home, "music"), join(home, "notes")]);
  expect(hosts).toEqual(["api.example.com", "db.example.com:5432"]);
});

test("the home, a folder above it and Guildhall's own folders are withheld, with the reason", () => {
  const { write, withheld } = profileOf(["~", "/", "~/.local/share/guildhall/trust"]);
  expect(write).toEqual([]);
  expect(withheld).toHaveLength(3);
  expect(withheld.at(-1)).toContain("which is Guildhall's");
});

test("a profile is described in plain words", () => {
  const profile = createProfile(
    "box",
    { ...faulty(), args: ["~/notes"] },
    {
      ...none,
      read: [join(home, "music")],
      hosts: ["api.github.com"],
    },
  );
  expect(describeProfile(profile)).toEqual([
    "reads ~/music",
    "writes ~/notes",
    "connects to api.github.com",
  ]);
});

test("a server runs as it was approved, and the user's config comes first", () => {
  const server = faulty();
  expect(decideSandbox(server, undefined)).toEqual({ kind: "open" });
  expect(decideSandbox(server, { kind: "off", reason: "x" })).toEqual({ kind: "open" });
  expect(decideSandbox(server, { kind: "on", learned: none })).toMatchObject({ kind: "box" });
  expect(decideSandbox({ ...server, sandbox: "on" }, undefined)).toMatchObject({ kind: "box" });
  expect(decideSandbox({ ...server, sandbox: "off" }, { kind: "on", learned: none })).toEqual({
    kind: "open",
  });
});

test("rights in the config are part of the approval; on and off are not", () => {
  const server = faulty();
  const approved = approvalOf(server);
  expect(approvalOf({ ...server, sandbox: "on" })).toBe(approved);
  expect(approvalOf({ ...server, sandbox: "off" })).toBe(approved);
  const wider = approvalOf({ ...server, sandbox: rights });
  expect(wider).not.toBe(approved);
  const widest = { ...rights, network: { allow: ["example.com"] } };
  expect(approvalOf({ ...server, sandbox: widest })).not.toBe(wider);
});

test("hosts match exactly, below a wildcard, and on their ports", () => {
  const hosts = ["api.example.com", "*.example.org", "localhost:5432"];
  expect(isAllowed(hosts, "api.example.com", 443)).toBe(true);
  expect(isAllowed(hosts, "api.example.com", 22)).toBe(false);
  expect(isAllowed(hosts, "evil-api.example.com")).toBe(false);
  expect(isAllowed(hosts, "api.example.com.evil.net")).toBe(false);
  expect(isAllowed(hosts, "a.example.org", 80)).toBe(true);
  expect(isAllowed(hosts, "example.org")).toBe(false);
  expect(isAllowed(hosts, "localhost", 5432)).toBe(true);
  expect(isAllowed(hosts, "localhost", 80)).toBe(false);
});

test.each([
  ["ENOENT: no such file or directory, open '~/music/x'", []],
  ["ENOENT: no such file or directory, open '~/.ssh/id_rsa'", ["read ~/.ssh/id_rsa"]],
  ["[Errno 13] Permission denied: '~/.ssh/id_rsa'", ["read ~/.ssh/id_rsa"]],
  ["EACCES: permission denied, open '~/notes/a'", []],
  ["Working directory does not exist: ~/.ssh", ["read ~/.ssh"]],
  ["ENOENT: no such file, open '~/music/x'\n    at open (file://~/.ssh/id_rsa:3:14)", []],
  ["getaddrinfo EAI_AGAIN api.github.com", ["host api.github.com"]],
  ["curl: (6) Could not resolve host: example.com", ["host example.com"]],
  ["connect ENETUNREACH 169.254.169.254:80 - Local (0.0.0.0:0)", ["host 169.254.169.254"]],
  ["it says nothing of a failure", []],
])("a failure tells what was denied: %s", (text, expected) => {
  const profile = profileOf(["~/notes"]);
  const found = findDenials(text.replaceAll("~", home), profile, home);
  expect(found.map(({ kind, what }) => `${kind} ${what.replace(home, "~")}`)).toEqual(expected);
});

test.each([
  ["fetch failed", [], true],
  ["Error: Connection refused", [], true],
  ["Not Found: no such repository", [], false],
  // Another host that it may reach may be down.
  ["fetch failed", ["https://api.example.com"], false],
])("a failure without a host names the missing network: %s %s", async (text, args, isNamed) => {
  const runtime = { bwrap: "/usr/bin/bwrap", perl: undefined } as unknown as Runtime;
  const policy: SandboxPolicy = {
    decide: () => ({ kind: "box", learned: none }),
    runtime: async () => runtime,
  };
  const plan = await planBox("box", { ...faulty(), args }, policy);
  expect(plan?.explain(text)).toBe(
    isNamed
      ? 'The sandbox of server "box" has no network. The user can run `guildhall sandbox learn box`.'
      : undefined,
  );
});

test("a trace shows what a server looked for in silence", () => {
  const trace = [
    `12 openat(AT_FDCWD, "${home}/.ssh/id_rsa", O_RDONLY) = -1 ENOENT (No such file or directory)`,
    `12 openat(AT_FDCWD, "${home}/not-there", O_RDONLY) = -1 ENOENT (No such file or directory)`,
    `12 openat(AT_FDCWD, "${home}/notes/a", O_RDONLY) = -1 ENOENT (No such file or directory)`,
    '12 access("/usr/lib/x", R_OK) = -1 ENOENT (No such file or directory)',
  ].join("\n");
  expect(parseTrace(trace, profileOf(["~/notes"]))).toEqual([
    { kind: "read", what: join(home, ".ssh/id_rsa") },
  ]);
});

test("denials become the fewest rights, none of Guildhall's own folders", () => {
  const files = ["a", "b", "c", "d"].map((name) => join(home, "music", name));
  const denials = [
    ...files.map((what) => ({ kind: "read" as const, what })),
    { kind: "read" as const, what: join(home, ".local/share/guildhall/trust/key") },
    { kind: "host" as const, what: "api.github.com" },
    { kind: "host" as const, what: "api.github.com" },
  ];
  const proposed = summariseDenials(denials, { home, ...none });
  expect(proposed.map(({ kind, what }) => `${kind} ${what}`)).toEqual([
    `read ${join(home, "music")}`,
    "host api.github.com",
  ]);
});

test("a container gets the options of its profile, where its entry has none", () => {
  const args = ["run", "-i", "--rm", "image"];
  expect(isContainer({ command: "/usr/bin/docker", args })).toBe(true);
  expect(confineContainer(args, { hosts: [], memoryMb: 512 })).toEqual([
    "run",
    "--network=none",
    "--read-only",
    "--tmpfs=/tmp:rw,size=256m",
    "--cap-drop=ALL",
    "--security-opt=no-new-privileges",
    "--pids-limit=512",
    "--memory=512m",
    ...args.slice(1),
  ]);
  const open = confineContainer(["run", "--network=host", "x"], { hosts: [], memoryMb: 512 });
  expect(open.filter((word) => word.startsWith("--network"))).toEqual(["--network=host"]);
});

test("the filter of system calls exists for x64 and arm64, and jumps stay inside it", () => {
  expect(createSystemCallFilter("riscv64")).toBeUndefined();
  for (const processor of ["x64", "arm64"]) {
    const filter = createSystemCallFilter(processor) ?? Buffer.alloc(0);
    const count = filter.length / 8;
    for (let at = 0; at < count; at++)
      for (const jump of [filter[at * 8 + 2] ?? 0, filter[at * 8 + 3] ?? 0])
        expect(at + 1 + jump).toBeLessThanOrEqual(count);
  }
});
