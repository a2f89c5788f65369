import { HallError } from "../../base/errors.ts";
import { configuredServers } from "../../config/unusable.ts";
import {
  type Discovery,
  discoverServers,
  mergeIntoLock,
  saveDiscoveries,
} from "../../hall/discover.ts";
import { keepFailures } from "../../hall/last-failures.ts";
import { tellTrustChanged } from "../../hall/project-trust.ts";
import { loadSettings, type Settings } from "../../hall/settings.ts";
import { readLock } from "../../upstream/lock.ts";
import { formatDiscovery } from "../discovery.ts";
import { paint, print, table } from "../print.ts";
import { askLine, isAttended } from "../terminal.ts";
import {
  buildGroups,
  describeChanges,
  describePlan,
  findUnsound,
  type GroupingOptions,
  summarisePlan,
} from "./build-groups.ts";
import {
  confirmStarts,
  modulesWait,
  openReviewing,
  reviewLooks,
  summariseReview,
} from "./review.ts";

export interface BuildOptions extends GroupingOptions {
  readonly yes?: boolean;
  readonly json?: boolean;
  readonly logLevel?: string;
}

/** Looks at every server at once, writes what they offer to the lock, lets a person review it, and groups the tools. */
export async function runBuild(options: BuildOptions): Promise<void> {
  const settings = await loadSettings(options, "error");
  const folder = process.cwd();
  const configured = Object.keys(configuredServers(settings.loaded));
  const isAsking = isAttended(options);
  const reviewing = await openReviewing(
    settings,
    isAsking ? { kind: "ask", ask: askLine } : { kind: options.yes ? "yes" : "none" },
  );
  const names = await confirmStarts(reviewing, configured);
  const unstarted = configured.filter(
    (name) => !names.includes(name) && settings.config.mcpServers[name]?.disabled !== true,
  );
  const looks = await discoverServers(settings, {
    names,
    done: (look) => {
      if (!options.json) process.stderr.write(`${formatDiscovery(look)}\n`);
    },
  });
  if (options.dryRun)
    return showPlan(folder, settings, {
      ...options,
      unstarted,
      lock: await mergeIntoLock(folder, looks, configured),
    });
  const file = await saveDiscoveries(folder, looks, configured);
  await keepFailures(settings, looks);
  const reviews = await reviewLooks(reviewing, looks);
  if (options.yes || isAsking) await tellTrustChanged();
  const found = looks.filter((look) => "found" in look);
  const unapproved = reviews.filter(({ isApproved }) => !isApproved).map(({ name }) => name);
  const waiting = configured.filter(
    (name) => unstarted.includes(name) || unapproved.includes(name),
  );
  const plan = await buildGroups(folder, settings, {
    ...options,
    lock: await readLock(folder, (message) => settings.log.warn(message)),
  });
  if (!options.yes && !isAsking && modulesWait(reviewing))
    process.stderr.write(
      "toolkits of this project wait for `guildhall verify`: none of them is loaded before\n",
    );
  const started = looks.filter(({ name }) => !Object.hasOwn(settings.loaded.unusable, name));
  const isSilent =
    found.length === 0 && (started.length > 0 || (looks.length > 0 && waiting.length === 0));
  print(
    {
      lock: file,
      servers: looks.map(summarise),
      reviews: reviews.map(summariseReview),
      waiting,
      ...(plan ? { groups: summarisePlan(plan) } : {}),
    },
    {
      json: options.json,
      text: () =>
        [
          ...describeLooks(looks, file, configured),
          ...tellWaiting(waiting),
          ...(plan ? [describePlan(plan)] : []),
        ].join("\n"),
      failure: isSilent
        ? new HallError("UNAVAILABLE", "no server answered", {
            hint: "Run `guildhall doctor` to see why.",
          })
        : findUnsound(plan, options),
    },
  );
}

/** What would become of the groups; nothing is written. */
async function showPlan(
  folder: string,
  settings: Settings,
  {
    unstarted,
    ...options
  }: Parameters<typeof buildGroups>[2] & {
    readonly json?: boolean;
    readonly unstarted: readonly string[];
  },
): Promise<void> {
  for (const line of tellWaiting(unstarted)) process.stderr.write(`${line}\n`);
  const plan = await buildGroups(folder, settings, options);
  if (!plan && unstarted.length > 0)
    throw new HallError(
      "DENIED",
      "nothing is known of these servers yet, so there is nothing to group",
      {
        hint: "Run `guildhall verify` to see what would run, or build with --yes to allow it.",
      },
    );
  if (!plan)
    throw new HallError("UNAVAILABLE", "no server answered, so there is nothing to group", {
      hint: "Run `guildhall doctor` to see why.",
    });
  print(summarisePlan(plan), {
    json: options.json,
    text: () => describeChanges(plan),
    failure: findUnsound(plan, options),
  });
}

function describeLooks(
  looks: readonly Discovery[],
  file: string,
  configured: readonly string[],
): readonly string[] {
  if (configured.length === 0)
    return [
      "no servers are configured; these are the hall's own tools (add servers under mcpServers in guildhall.json)",
    ];
  if (looks.length === 0) return ["no server was started"];
  const silent = looks.filter((look) => !("found" in look));
  const answered = looks.filter((look) => "found" in look);
  const names = silent.map(({ name }) => name).join(", ");
  // What needs a hand stands where the eye begins.
  return [
    summaryTable([...silent, ...answered]),
    "",
    ...(silent.length > 0
      ? [paint("red", `${names} did not answer: \`guildhall doctor\` says what to do`)]
      : []),
    `${answered.length} of ${looks.length} servers answered; ${countTools(looks)} tools are in ${file}`,
  ];
}

function tellWaiting(names: readonly string[]): readonly string[] {
  if (names.length === 0) return [];
  const what = names.length === 1 ? "1 server waits" : `${names.length} servers wait`;
  return [
    `${what} for \`guildhall verify\` (${names.join(", ")}): nothing of ${names.length === 1 ? "it" : "them"} is started before`,
  ];
}

function summarise(look: Discovery): object {
  if (!("found" in look))
    return { name: look.name, ok: false, reason: look.reason, stderr: look.stderr };
  const { era, protocol, offer } = look.found;
  return {
    name: look.name,
    ok: true,
    era,
    protocol,
    tools: offer.tools.map(({ name }) => name),
    resources: offer.resources.length,
    prompts: offer.prompts.length,
  };
}

function summaryTable(looks: readonly Discovery[]): string {
  const rows = looks.map((look) => {
    if (!("found" in look)) return [look.name, "down", "", "", "", look.reason];
    const { era, protocol, offer } = look.found;
    return [
      look.name,
      `${era} ${protocol}`,
      String(offer.tools.length),
      String(offer.resources.length),
      String(offer.prompts.length),
      offer.tools.map(({ name }) => name).join(", "),
    ];
  });
  return table(["server", "speaks", "tools", "resources", "prompts", "what it offers"], rows);
}

function countTools(looks: readonly Discovery[]): number {
  return looks.reduce(
    (sum, look) => sum + ("found" in look ? look.found.offer.tools.length : 0),
    0,
  );
}
