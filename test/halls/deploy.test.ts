import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { isObject, type JsonObject } from "../../src/base/json.ts";
import { createProgram } from "../../src/cli/program.ts";

/** The files in deploy/ say what this version understands. No container is built here. */
const read = (name: string): string =>
  readFileSync(new URL(`../../deploy/${name}`, import.meta.url), "utf8");

const schema = JSON.parse(
  readFileSync(new URL("../../guildhall.schema.json", import.meta.url), "utf8"),
) as JsonObject;

function isField(variable: string): boolean {
  const [, section = "", name = ""] = variable.split("__");
  const sections = schema.properties as Record<string, JsonObject>;
  const found = sections[section.toLowerCase()]?.properties;
  return isObject(found) && Object.keys(found).some((field) => field.toUpperCase() === name);
}

function expectServe(words: readonly string[]): void {
  const [command, ...flags] = words;
  const serve = createProgram().commands.find((known) => known.name() === command);
  const known = serve?.options.map(({ long }) => long) ?? [];
  expect(command).toBe("serve");
  for (const flag of flags.filter((word) => word.startsWith("--"))) expect(known).toContain(flag);
}

test("the image runs a command that exists, not as root", () => {
  const lines = read("Dockerfile").split("\n");
  const last = (word: string): string =>
    lines.findLast((line) => line.startsWith(`${word} `))?.slice(word.length + 1) ?? "";
  expect(JSON.parse(last("ENTRYPOINT"))).toEqual(["guildhall"]);
  expectServe(JSON.parse(last("CMD")));
  expect(Number(last("USER"))).toBeGreaterThan(0);
});

test("compose starts three halls that share a database, and a balancer that asks them", () => {
  const { services } = parse(read("compose.yaml"), { merge: true });
  const halls = Object.keys(services).filter((name) => /^hall\d$/.test(name));
  expect(halls).toHaveLength(3);
  for (const name of halls) {
    const { environment, healthcheck, cap_drop: dropped } = services[name];
    expect(Object.keys(environment).filter((variable) => !isField(variable))).toEqual([]);
    expect(healthcheck.test.at(-1)).toContain("/ready");
    expect(dropped).toEqual(["ALL"]);
    expect(read("haproxy.cfg")).toContain(`server ${name} ${name}:8080`);
  }
  expect(read("haproxy.cfg")).toContain("httpchk GET /ready");
  expect(services.database.environment.POSTGRES_PASSWORD_FILE).toBe("/run/secrets/password");
});

test("the manifests have what Kubernetes requires", () => {
  const { resources } = parse(read("kustomize/kustomization.yaml"));
  expect(resources).toEqual(["halls.yaml"]);
  const documents = parseAllDocuments(read("kustomize/halls.yaml")).map((document) => {
    expect(document.errors).toEqual([]);
    return document.toJS();
  });
  expect(documents.map(({ kind }) => kind)).toEqual([
    "Deployment",
    "Service",
    "PodDisruptionBudget",
  ]);
  for (const { apiVersion, metadata } of documents)
    expect([typeof apiVersion, metadata.name]).toEqual(["string", "guildhall"]);
  const [{ spec }, service] = documents;
  expect(spec.replicas).toBe(3);
  expect(spec.template.metadata.labels).toEqual(spec.selector.matchLabels);
  expect(service.spec.selector).toEqual(spec.selector.matchLabels);
  const pod = spec.template.spec;
  const [container] = pod.containers;
  expectServe(container.args);
  const variables: { name: string }[] = container.env;
  const ours = variables.map(({ name }) => name).filter((name) => name.startsWith("GUILDHALL__"));
  expect(ours.filter((name) => !isField(name))).toEqual([]);
  expect(container.readinessProbe.httpGet.path).toBe("/ready");
  expect(pod.securityContext.runAsNonRoot).toBe(true);
  const volumes: { name: string }[] = pod.volumes;
  const mounted: { name: string }[] = container.volumeMounts;
  expect(new Set(mounted.map(({ name }) => name))).toEqual(
    new Set(volumes.map(({ name }) => name)),
  );
});
