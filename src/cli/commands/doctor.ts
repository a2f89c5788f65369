import { accessSync, constants } from "node:fs";
import { delimiter, isAbsolute, join, resolve } from "node:path";
import { HallError } from "../../base/errors.ts";
import type { ServerConfig } from "../../config/schema.ts";
import { configuredServers, type UnusableServer } from "../../config/unusable.ts";
import { type Discovery, discoverServers } from "../../hall/discover.ts";
import { keepFailures } from "../../hall/last-failures.ts";
import { loadSettings } from "../../hall/settings.ts";
import { createTrust } from "../../trust/trust.ts";
import { adviceForShell } from "../advice.ts";
import { quoteWord } from "../call-line.ts";
import { paint, print } from "../print.ts";
import { openProjectLedger } from "./review.ts";

export interface DoctorOptions {
  readonly json?: boolean;
}

interface Finding {
  readonly name: string;
  readonly ok: boolean;
  readonly checks: readonly {
    readonly what: string;
    readonly ok: boolean;
    readonly advice?: string;
  }[];
}

/** Each configured server: is its program there, does it start, does it list; and what to do where it does not. */
export async function runDoctor(options: DoctorOptions): Promise<void> {
  const settings = await loadSettings({}, "error");
  const servers = Object.entries(configuredServers(settings.loaded));
  if (servers.length === 0)
    throw new HallError("NOT_FOUND", "no servers are configured", {
      hint: "`guildhall init` finds those your clients have; or write them under mcpServers in guildhall.json.",
    });
  if (process.stderr.isTTY) process.stderr.write(`looking at ${servers.length} servers …\n`);
  const trust = createTrust({ ledger: await openProjectLedger(settings) });
  await trust.refresh();
  const looks = await discoverServers(settings, { mayStart: trust.mayStart });
  await keepFailures(settings, looks);
  const findings = servers.map(([name, config]) =>
    examine(
      name,
      config,
      looks.find((look) => look.name === name),
    ),
  );
  print(findings, {
    json: options.json,
    text: () => findings.map(describe).join("\n\n"),
    failure: failureOf(findings, options),
  });
}

function failureOf(findings: readonly Finding[], { json }: DoctorOptions): HallError | undefined {
  const sick = findings.filter(({ ok }) => !ok);
  if (sick.length === 0) return undefined;
  return new HallError(
    "UNAVAILABLE",
    `${sick.length} of ${findings.length} servers need attention`,
    {
      hint: json ? "The advice is in `details`." : "The advice stands above.",
    },
  );
}

type Check = Finding["checks"][number];

function examine(
  name: string,
  config: ServerConfig | UnusableServer,
  look: Discovery | undefined,
): Finding {
  const checks = checksOf(config, look);
  return { name, ok: checks.every(({ ok }) => ok), checks };
}

function checksOf(
  config: ServerConfig | UnusableServer,
  look: Discovery | undefined,
): readonly Check[] {
  if (config.type === "unusable")
    return config.problems.map((problem) => ({
      what: `its entry cannot be used: ${problem}`,
      ok: false,
    }));
  if (config.disabled) return [{ what: "disabled in the config", ok: true }];
  return [...examineEntry(config), ...(look ? examineLook(config, look) : [])];
}

function examineEntry(config: ServerConfig): readonly Check[] {
  if (config.type !== "stdio")
    return [{ what: `it is elsewhere, reached over ${config.type}`, ok: true }];
  const program = findProgram(config.command);
  return [
    program === undefined
      ? {
          what: `the program "${config.command}" was not found`,
          ok: false,
          advice: `Install it, or write its full path into command. PATH is ${process.env.PATH}`,
        }
      : { what: `the program is ${program}`, ok: true },
    {
      what: `its variables are set (${Object.keys(config.env).join(", ") || "none needed"})`,
      ok: true,
    },
  ];
}

function examineLook(config: ServerConfig, look: Discovery): readonly Check[] {
  if ("found" in look) {
    return [
      {
        what: `it starts and speaks ${look.found.protocol} (${(look.ms / 1000).toFixed(1)} s)`,
        ok: true,
      },
      {
        what: `it lists ${look.found.offer.tools.length} tools`,
        ok: look.found.offer.tools.length > 0,
        advice: "A server without tools is of no use here: check its arguments.",
      },
    ];
  }
  // Running it by hand would not help: a person must approve it or log in first.
  if (look.isDenied)
    return [{ what: `it ${look.reason}`, ok: false, advice: adviceForShell(look.next ?? []) }];
  const said = look.stderr.length > 0 ? `\n      It said: ${look.stderr.join(" | ")}` : "";
  const advice =
    config.type === "stdio"
      ? `Run it by hand: ${[config.command, ...config.args].map(quoteWord).join(" ")}${said}`
      : "Do what the message says, or check url in its entry.";
  return [{ what: `it does not work: ${look.reason}`, ok: false, advice }];
}

function findProgram(command: string): string | undefined {
  const places = command.includes("/")
    ? [isAbsolute(command) ? command : resolve(command)]
    : (process.env.PATH ?? "").split(delimiter).map((folder) => join(folder, command));
  return places.find((place) => {
    try {
      accessSync(place, constants.X_OK);
      return true;
    } catch {
      // Not there, or not ours to run: the next place may have it.
      return false;
    }
  });
}

function describe({ name, ok, checks }: Finding): string {
  const lines = checks.map(
    (check) =>
      `  ${check.ok ? paint("green", "✔") : paint("red", "✘")} ${check.what}${check.ok || !check.advice ? "" : `\n      ${check.advice}`}`,
  );
  return [`${ok ? paint("green", "✔") : paint("red", "✘")} ${paint("bold", name)}`, ...lines].join(
    "\n",
  );
}
