// A project's file must not choose the token of the hall: its author, or everybody, may know it.
import { expect, test } from "vitest";
import { loadConfig } from "../../src/config/load.ts";
import { makeHome } from "../servers/home.ts";

test.each(["/etc/machine-id", "./token", "~/token"])(
  "a project cannot name the token file %s",
  async (tokenFile) => {
    using home = makeHome({ "./guildhall.json": { listen: { tokenFile } }, "./token": "x" });
    await expect(loadConfig({ folder: home.project, env: home.env })).rejects.toThrow(
      "listen.tokenFile: chooses a token that others may know",
    );
  },
);

test("the user's own file can", async () => {
  using home = makeHome({
    "~/.config/guildhall/config.json": { listen: { tokenFile: "/run/secrets/token" } },
  });
  const { config } = await loadConfig({ folder: home.project, env: home.env });
  expect(config.listen.tokenFile).toBe("/run/secrets/token");
});

test("a project cannot add an issuer or an audience, also where a variable sets another part", async () => {
  const team = { url: "https://id.example", audiences: ["https://evil.example"] };
  for (const issuers of [{ theirs: { url: "https://evil.example" } }, { team }]) {
    using home = makeHome({ "./guildhall.json": { auth: { issuers } } });
    const env = {
      ...home.env,
      GUILDHALL__AUTH__ISSUERS__team__URL: "https://id.example",
      GUILDHALL__AUTH__ISSUERS__team__USER: "oid",
    };
    await expect(loadConfig({ folder: home.project, env })).rejects.toThrow(
      "auth.issuers: chooses who may use the hall",
    );
  }
});
