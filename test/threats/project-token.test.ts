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
