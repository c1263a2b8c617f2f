import { createEvent, fireEvent, render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { beforeEach, expect, test, vi } from "vitest";

import { Composer } from "./composer";

beforeEach(() => {
  localStorage.clear();
  vi.stubGlobal("matchMedia", () => ({ matches: true }));
});

const onSend = vi.fn<(text: string) => boolean>(() => true);
const onStop = vi.fn();

beforeEach(() => {
  onSend.mockReset().mockReturnValue(true);
  onStop.mockReset();
});

function show(change: { connected?: boolean; running?: boolean; sessionId?: string | null } = {}) {
  const props = { sessionId: "s1", connected: true, running: false, ...change };
  return render(<Composer {...props} onSend={onSend} onStop={onStop} />);
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
