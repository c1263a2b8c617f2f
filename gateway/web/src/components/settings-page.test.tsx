import { cleanup, render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, expect, test, vi } from "vitest";

import { ChatClient } from "../connection/client";
import { rest, RestError } from "../connection/rest";
import { FakeSocket } from "../connection/testing";
import { settingDrafts } from "../state/setting-drafts";
import { setting } from "../state/setting-testing";
import { createStore } from "../state/store";
import { Local2Context } from "./context";
import SettingsPage from "./settings-page";

const notice = vi.fn();
const web = (enabled: boolean) => ({
  ...{ enabled, problems: [] },
  tools: [{ name: "web_search", tool: "web_search", enabled }],
});

beforeEach(() => {
  vi.spyOn(rest, "settings").mockResolvedValue({
    settings: [
      setting({ section: "generator", key: "num_ctx", value: 4096, default: 8192, minimum: 512 }),
      setting({
        section: "models",
        key: "backend",
        value: "auto",
        type: "str",
        choices: ["auto", "ollama"],
      }),
      setting({ restart: true }),
    ],
    problems: [],
  });
  vi.spyOn(rest, "web").mockResolvedValue(web(false));
});

afterEach(() => {
  cleanup();
  settingDrafts.clear();
  vi.restoreAllMocks();
  notice.mockReset();
});

function show() {
  const store = createStore();
  const client = new ChatClient({ store, rest, url: "", makeSocket: FakeSocket.make });
  vi.spyOn(client, "notice").mockImplementation(notice);
  return render(
    <Local2Context value={{ store, client }}>
      <SettingsPage />
    </Local2Context>,
  );
}

test("changes wait in the bar, and Save sends them by section", async () => {
  const save = vi.spyOn(rest, "changeSettings").mockResolvedValue();
  show();
  const size = await screen.findByLabelText("Context size");
  await userEvent.clear(size);
  await userEvent.type(size, "2048");
  await userEvent.selectOptions(screen.getByLabelText("Backend"), "ollama");
  expect(save).not.toHaveBeenCalled();
  expect(screen.getByText("2 changes are not saved")).toBeDefined();
  await userEvent.click(screen.getByRole("button", { name: "Save" }));
  expect(save.mock.calls).toEqual([
    ["generator", { num_ctx: 2048 }],
    ["models", { backend: "ollama" }],
  ]);
  expect(screen.queryByText(/not saved/)).toBeNull();
});

test("a refusal stands at its field and keeps what was typed", async () => {
  const refusal = new RestError(422, "bad_setting", "generator.yaml: num_ctx: not now");
  vi.spyOn(rest, "changeSettings").mockRejectedValue(refusal);
  show();
  const size = await screen.findByLabelText<HTMLInputElement>("Context size");
  await userEvent.type(size, "0{Enter}");
  expect(screen.getByRole("alert").textContent).toContain("not now");
  expect(size.value).toBe("40960");
});

test("a changed value shows its default and goes back to it", async () => {
  show();
  const size = await screen.findByLabelText<HTMLInputElement>("Context size");
  expect(screen.getByText("8192")).toBeDefined();
  await userEvent.click(screen.getByRole("button", { name: "Reset Context size to default" }));
  expect(size.value).toBe("8192");
  await userEvent.click(screen.getByRole("button", { name: "Discard" }));
  expect(size.value).toBe("4096");
});

test("what was typed outlives the page, and leaving it says so", async () => {
  const { unmount } = show();
  await userEvent.type(await screen.findByLabelText("Context size"), "1");
  unmount();
  expect(notice).toHaveBeenCalledOnce();
  show();
  expect((await screen.findByLabelText<HTMLInputElement>("Context size")).value).toBe("40961");
});

test("what is rarely wanted is folded, and says that it needs a restart", async () => {
  show();
  const folded = (await screen.findByText("Advanced")).closest("details");
  expect(folded?.open).toBe(false);
  expect(folded?.textContent).toContain("local2 up");
  await userEvent.type(screen.getByRole("searchbox"), "port");
  expect(screen.getByText("Advanced").closest("details")?.open).toBe(true);
});

test("the web is switched at once", async () => {
  const allow = vi.spyOn(rest, "allowWeb").mockResolvedValue(web(true));
  show();
  const toggle = await screen.findByRole<HTMLInputElement>("switch", { name: /use the web/ });
  await userEvent.click(toggle);
  expect(allow).toHaveBeenCalledWith(true);
  expect(toggle.checked).toBe(true);
});
