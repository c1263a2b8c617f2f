import { createEvent, fireEvent, render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { beforeEach, expect, test, vi } from "vitest";

import { readModel } from "../state/choices";
import { initialState } from "../state/model";
import { createStore } from "../state/store";
import type { Models } from "../wire/rest";
import { Composer } from "./composer";
import { type Local2, Local2Context } from "./context";

const models: Models = {
  backend: { kind: "ollama", url: "", demo: false, state: "ready", message: "" },
  roles: [
    { role: "default", model: "small", available: true, hint: "" },
    { role: "quality", model: "large", available: false, hint: "ollama pull large" },
  ],
  models: [
    { name: "small", size_bytes: 0 },
    { name: "other", size_bytes: 0 },
  ],
  options: {},
  tools: [],
  refused: [],
  counts: {},
  commands: [
    { name: "search", usage: "/search <query>", help: "Search the web", tool: "web_search" },
    { name: "sources", usage: "/sources", help: "Show them", tool: "" },
    { name: "help", usage: "/help", help: "All commands", tool: "" },
    { name: "time", usage: "/time [timezone]", help: "The time", tool: "get_datetime" },
  ],
};

beforeEach(() => {
  localStorage.clear();
  vi.stubGlobal("matchMedia", () => ({ matches: true }));
});

const onSend = vi.fn<(text: string) => boolean>(() => true);
const onStop = vi.fn();
const refreshModels = vi.fn(() => Promise.resolve());

beforeEach(() => {
  onSend.mockReset().mockReturnValue(true);
  onStop.mockReset();
});

function show(change: { connected?: boolean; running?: boolean; sessionId?: string | null } = {}) {
  const props = { sessionId: "s1", connected: true, running: false, ...change };
  const store = createStore({ ...initialState, models });
  return render(
    <Local2Context value={{ store, client: { refreshModels } } as unknown as Local2}>
      <Composer {...props} onSend={onSend} onStop={onStop} />
    </Local2Context>,
  );
}

const field = () => screen.getByRole<HTMLTextAreaElement>("textbox", { name: "Your question" });

test("Enter sends what was typed, and empties the field", async () => {
  show();
  await userEvent.type(field(), "  Why? {Enter}");
  expect(onSend).toHaveBeenCalledExactlyOnceWith("Why?");
  expect(field().value).toBe("");
});

test("Shift+Enter starts a line", async () => {
  show();
  await userEvent.type(field(), "a{Shift>}{Enter}{/Shift}b");
  expect(field().value).toBe("a\nb");
  expect(onSend).not.toHaveBeenCalled();
});

test("the Enter that ends a composition does not send", () => {
  show();
  fireEvent.change(field(), { target: { value: "にほん" } });
  const composing = createEvent.keyDown(field(), { key: "Enter", isComposing: true });
  fireEvent(field(), composing);
  expect(composing.defaultPrevented).toBe(false);
  fireEvent.keyDown(field(), { key: "Enter", keyCode: 229 });
  expect(onSend).not.toHaveBeenCalled();
  fireEvent.keyDown(field(), { key: "Enter", keyCode: 13 });
  expect(onSend).toHaveBeenCalledExactlyOnceWith("にほん");
});

test("nothing but blanks is not sent", async () => {
  show();
  await userEvent.type(field(), "  {Enter}");
  expect(onSend).not.toHaveBeenCalled();
  expect(screen.getByRole<HTMLButtonElement>("button", { name: /Send/ }).disabled).toBe(true);
});

test("without a connection the draft stays, over a reload too", async () => {
  const { unmount } = show({ connected: false });
  await userEvent.type(field(), "Why?{Enter}");
  expect(onSend).not.toHaveBeenCalled();
  expect(screen.getByText(/Not connected/)).toBeDefined();
  unmount();
  show();
  expect(field().value).toBe("Why?");
});

test("each chat has a draft of its own", async () => {
  const { unmount } = show();
  await userEvent.type(field(), "Why?");
  unmount();
  show({ sessionId: null });
  expect(field().value).toBe("");
});

test("what was not taken stays", async () => {
  onSend.mockReturnValue(false);
  show();
  await userEvent.type(field(), "Why?{Enter}");
  expect(field().value).toBe("Why?");
});

test("while a turn runs it can be stopped, and the next question queued", async () => {
  show({ running: true });
  await userEvent.click(screen.getByRole("button", { name: "Stop the answer" }));
  expect(onStop).toHaveBeenCalledOnce();
  await userEvent.type(field(), "And then?");
  await userEvent.click(screen.getByRole("button", { name: "Queue the question" }));
  expect(onSend).toHaveBeenCalledExactlyOnceWith("And then?");
});

const options = () =>
  screen.queryAllByRole("option", { name: /^\// }).map((one) => one.textContent);
const chosen = () => document.getElementById(field().getAttribute("aria-activedescendant") ?? "");

test("a slash lists the commands, and what is typed narrows them", async () => {
  show();
  await userEvent.type(field(), "/");
  expect(options()).toHaveLength(4);
  await userEvent.type(field(), "s");
  expect(options()).toEqual(["/search <query>Search the web", "/sourcesShow them"]);
  await userEvent.type(field(), "earch x");
  expect(options()).toEqual([]);
});

test("keys choose a command without leaving the field", async () => {
  show();
  await userEvent.type(field(), "/s{ArrowDown}");
  expect(chosen()?.textContent).toContain("/sources");
  await userEvent.keyboard("{ArrowDown}{Enter}");
  expect(field().value).toBe("/search ");
  expect(document.activeElement).toBe(field());
  expect(onSend).not.toHaveBeenCalled();
  await userEvent.type(field(), "boots{Enter}");
  expect(onSend).toHaveBeenCalledExactlyOnceWith("/search boots");
});

test("a whole command is sent, Escape closes the list, a click chooses", async () => {
  show();
  await userEvent.type(field(), "/help{Enter}");
  expect(onSend).toHaveBeenCalledExactlyOnceWith("/help");
  await userEvent.type(field(), "/he{Escape}");
  expect(options()).toEqual([]);
  await userEvent.type(field(), "l");
  await userEvent.click(screen.getByRole("option", { name: /^\/help/ }));
  expect(field().value).toBe("/help");
});

test("what an input method composes chooses nothing", () => {
  show();
  fireEvent.change(field(), { target: { value: "/s" } });
  fireEvent.keyDown(field(), { key: "Enter", keyCode: 229 });
  expect(field().value).toBe("/s");
});

test("a model is picked for this chat alone, and only one that is there", async () => {
  const { unmount } = show();
  const picker = screen.getByLabelText<HTMLSelectElement>("Model for this chat");
  expect([...picker.options].map((one) => [one.textContent, one.disabled])).toEqual([
    ["Default: small", false],
    ["Quality: large (not installed)", true],
    ["small", false],
    ["other", false],
  ]);
  await userEvent.selectOptions(picker, "other");
  expect([readModel("s1"), readModel("s2")]).toEqual(["other", ""]);
  unmount();
  show();
  expect(screen.getByLabelText<HTMLSelectElement>("Model for this chat").value).toBe("other");
});

test("what need not follow a command is not waited for; what has to is explained", async () => {
  show();
  await userEvent.type(field(), "/time{Enter}");
  expect(onSend).toHaveBeenCalledExactlyOnceWith("/time");
  await userEvent.type(field(), "/");
  expect(refreshModels).toHaveBeenCalled();
  await userEvent.type(field(), "sea{Enter}");
  expect(field().value).toBe("/search ");
  expect(screen.getByText("/search <query>: Search the web")).toBeDefined();
});
