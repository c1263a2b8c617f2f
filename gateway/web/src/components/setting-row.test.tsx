import { render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, test, vi } from "vitest";

import { rest, RestError } from "../connection/rest";
import type { Setting } from "../wire/rest";
import { asText, editorOf, fromText, SettingRow } from "./setting-row";
import { sectionsOf } from "./settings-page";

const setting = (change: Partial<Setting>): Setting => ({
  ...{ section: "gateway", key: "port", value: 8765, default: 8765, source: "default" },
  ...{ description: "The port.", type: "int", choices: null, minimum: null, maximum: null },
  ...change,
});

test.each([
  [{ value: true, type: "bool" }, "switch"],
  [{ value: null, type: "bool or null" }, "switch"],
  [{ value: "a", type: "str", choices: ["a", "b"] }, "choice"],
  [{ value: 3, type: "int" }, "number"],
  [{ value: null, type: "float or null" }, "number"],
  [{ value: "x", type: "str" }, "text"],
  [{ value: null, type: "str or null" }, "text"],
  [{ value: ["a"], type: "list" }, "json"],
  [{ value: null, type: "dict or null" }, "json"],
] satisfies [Partial<Setting>, string][])("%j is edited by a %s", (change, editor) => {
  expect(editorOf(setting(change))).toBe(editor);
});

test.each([5, 0.25, true, "words", "", ["a", 1], { a: null }])(
  "%j survives being text",
  (value) => {
    const one = setting({ value, type: "" });
    const editor = editorOf(one);
    expect(fromText(asText(value, editor), editor, one)).toEqual(value);
  },
);

test("what is no number or no JSON is refused with words", () => {
  expect(() => fromText("12x", "number", setting({}))).toThrow("not a number");
  expect(() => fromText("{", "json", setting({}))).toThrow("not valid JSON");
});

test("a changed value is saved; a refusal is said at the field", async () => {
  const save = vi
    .spyOn(rest, "changeSetting")
    .mockRejectedValueOnce(new RestError(400, "bad_value", "port: expected 1024 to 65535"));
  save.mockResolvedValueOnce();
  const saved = vi.fn();
  render(<SettingRow setting={setting({})} onSaved={saved} />);
  const field = screen.getByLabelText("port");
  await userEvent.clear(field);
  await userEvent.type(field, "80");
  await userEvent.click(screen.getByRole("button", { name: "Save" }));
  expect(screen.getByRole("alert").textContent).toContain("expected 1024");
  expect(saved).not.toHaveBeenCalled();
  await userEvent.type(field, "80{Enter}");
  expect(save).toHaveBeenLastCalledWith("gateway", "port", 8080);
  expect(saved).toHaveBeenCalledOnce();
});

test("a choice is saved at once, and goes back where it is refused", async () => {
  const save = vi.spyOn(rest, "changeSetting");
  save.mockRejectedValueOnce(new RestError(422, "bad_setting", "level: not now"));
  const one = setting({ key: "level", value: "info", type: "str", choices: ["info", "debug"] });
  render(<SettingRow setting={one} onSaved={vi.fn()} />);
  const field = screen.getByLabelText<HTMLSelectElement>("level");
  await userEvent.selectOptions(field, "debug");
  expect(save).toHaveBeenCalledWith("gateway", "level", "debug");
  expect(screen.getByRole("alert").textContent).toBe("level: not now");
  expect(field.value).toBe("info");
});

test("a search needs all of its words", () => {
  const all = [setting({}), setting({ section: "models", key: "default", description: "Role." })];
  expect(sectionsOf(all, "models role").map(([name]) => name)).toEqual(["models"]);
  expect(sectionsOf(all, "models port")).toEqual([]);
});
