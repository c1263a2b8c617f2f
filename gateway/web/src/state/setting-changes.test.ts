import { afterEach, expect, test, vi } from "vitest";

import { changesOf, refusedId } from "./setting-changes";
import { settingDrafts } from "./setting-drafts";
import { groupsOf } from "./setting-groups";
import { setting } from "./setting-testing";

afterEach(() => settingDrafts.clear());

test("drafts become one change a section; what is wrong stays behind", () => {
  const settings = [
    setting({}),
    setting({ key: "max_sockets", minimum: 1 }),
    setting({ section: "models", key: "default", value: "a", type: "str" }),
  ];
  const drafts = { "gateway.port": "80", "gateway.max_sockets": "0", "models.default": "b" };
  expect(changesOf(settings, drafts)).toEqual({
    changes: { gateway: { port: 80 }, models: { default: "b" } },
    wrong: { "gateway.max_sockets": "This has to be at least 1." },
  });
});

test("a refusal belongs to the key that it names, else to the first", () => {
  expect(refusedId("gateway", ["host", "port"], "gateway.yaml: port: expected 1")).toBe(
    "gateway.port",
  );
  expect(refusedId("gateway", ["host", "port"], "The disk is full.")).toBe("gateway.host");
});

test("the browser asks before drafts are lost, and only then", () => {
  const leaves = () => window.dispatchEvent(new Event("beforeunload", { cancelable: true }));
  expect(leaves()).toBe(true);
  settingDrafts.put("gateway.port", "80");
  settingDrafts.put("gateway.port", "81");
  expect(leaves()).toBe(false);
  settingDrafts.put("gateway.port", null);
  expect(leaves()).toBe(true);
});

test("whoever watches hears of each change", () => {
  const heard = vi.fn();
  const stop = settingDrafts.subscribe(heard);
  settingDrafts.put("a.b", "1");
  stop();
  settingDrafts.clear();
  expect(heard).toHaveBeenCalledOnce();
});

const all = [
  setting({}),
  setting({ section: "datetime", key: "tool", value: "get_datetime", type: "str" }),
  setting({ section: "datetime", key: "policies", value: {}, type: "dict" }),
  setting({ section: "datetime", key: "zone", value: "UTC", type: "str" }),
  setting({ section: "generator", key: "id", value: "generator", type: "str" }),
  setting({ section: "generator", key: "num_ctx" }),
  setting({ section: "models", key: "default", description: "Role." }),
];

test("what people want stands first, and no id at all", () => {
  const { first, tools, advanced } = groupsOf(all, "");
  const keys = [first, tools, advanced].map((groups) =>
    groups.map(({ name, settings }) => [name, settings.map(({ key }) => key)]),
  );
  expect(keys).toEqual([
    [
      ["models", ["default"]],
      ["generator", ["num_ctx"]],
    ],
    [["datetime", ["zone"]]],
    [
      ["gateway", ["port"]],
      ["datetime", ["tool", "policies"]],
    ],
  ]);
});

test("a search needs all of its words", () => {
  expect(groupsOf(all, "models role").first.map(({ name }) => name)).toEqual(["models"]);
  expect(groupsOf(all, "models port")).toEqual({ first: [], tools: [], advanced: [] });
});
