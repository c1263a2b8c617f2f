import { render, screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { beforeEach, expect, test, vi } from "vitest";

import { rest, RestError } from "../connection/rest";
import { createStore, type Store } from "../state/store";
import { memory } from "../state/testing";
import type { MemoryView } from "../wire/rest";
import { type Local2, Local2Context } from "./context";
import MemoryPage, { statusWords } from "./memory-page";

const STATUS = {
  ...{ model: "m", dimensions: 384, message: "", reembedded: 0, reembedding: 0 },
  ...{ waiting: 0, write_enabled: true, collective: false },
};
const fact = memory({ memory_id: "f1" });
const engram = memory({
  ...{ memory_id: "e1", kind: "engram", text: "Boots are in the shed." },
  ...{ session_id: "s1", query_id: "q1", critic_score: 4, untrusted: true },
});
const notice = vi.fn();
let store: Store;
let kept: MemoryView[];

beforeEach(() => {
  store = createStore();
  kept = [fact, engram];
  notice.mockReset();
  vi.spyOn(rest, "memoryStatus").mockResolvedValue(STATUS);
  vi.spyOn(rest, "memories").mockImplementation((kind) => {
    const memories = kept.filter((one) => kind === "" || one.kind === kind);
    return Promise.resolve({ memories, next: "", total: memories.length });
  });
});

function show() {
  return render(
    <Local2Context value={{ store, client: { notice } } as unknown as Local2}>
      <MemoryPage />
    </Local2Context>,
  ).container;
}

test("everything that is remembered, and where it comes from", async () => {
  show();
  const row = (await screen.findByText("Boots are in the shed.")).closest("li");
  expect(row?.textContent).toContain("From a chat");
  expect(row?.textContent).toContain("critic 4/5");
  expect(row?.textContent).toContain("with content from outside");
  expect(
    within(row as HTMLElement)
      .getByRole("link")
      .getAttribute("href"),
  ).toBe("/c/s1#q1");
  expect(screen.getByText("2 in all, the newest first.")).toBeDefined();
});

test("one kind of it", async () => {
  show();
  await screen.findByText("Boots are in the shed.");
  await userEvent.click(screen.getByRole("button", { name: "Facts" }));
  expect(await screen.findByText("1 in all, the newest first.")).toBeDefined();
  expect(screen.queryByText("Boots are in the shed.")).toBeNull();
});

test("words are searched by their meaning", async () => {
  const search = vi.spyOn(rest, "searchMemory").mockResolvedValue([engram]);
  show();
  await userEvent.type(screen.getByLabelText("Search the memory"), "shoes");
  expect(await screen.findByText("1 that fit, the best first.")).toBeDefined();
  expect(search).toHaveBeenCalledWith("shoes");
});

test("a fact is pinned; one that was known is said to be", async () => {
  const pin = vi.spyOn(rest, "pinFact");
  pin.mockImplementation((text) => {
    kept = [memory({ memory_id: "f2", text }), ...kept];
    return Promise.resolve({ fact_id: "f2", fact: text, merged: false });
  });
  show();
  await userEvent.type(screen.getByLabelText("A fact to remember"), "  Tea, never coffee. {Enter}");
  expect(await screen.findByText("Tea, never coffee.")).toBeDefined();
  pin.mockResolvedValue({ fact_id: "f2", fact: "x", merged: true });
  await userEvent.type(screen.getByLabelText("A fact to remember"), "I drink tea.{Enter}");
  expect(notice).toHaveBeenCalledWith("That was known already, in these words or others.");
});

test("what the memory refuses is said, and what was typed stays", async () => {
  vi.spyOn(rest, "pinFact").mockRejectedValue(new RestError(503, "x", "The memory is away."));
  show();
  const field = screen.getByLabelText<HTMLInputElement>("A fact to remember");
  await userEvent.type(field, "Tea.{Enter}");
  expect(notice).toHaveBeenCalledWith("Not remembered: The memory is away.");
  expect(field.value).toBe("Tea.");
});

test("a memory is put in other words", async () => {
  const edit = vi.spyOn(rest, "editMemory").mockImplementation((id, text) => {
    kept = kept.map((one) => (one.memory_id === id ? { ...one, text } : one));
    return Promise.resolve(memory({ text }));
  });
  show();
  await userEvent.click(await screen.findByRole("button", { name: `Change: ${fact.text}` }));
  const field = screen.getByLabelText("What is remembered", { selector: "textarea" });
  await userEvent.clear(field);
  await userEvent.type(field, "Ann plays the viola.");
  await userEvent.click(screen.getByRole("button", { name: "Save" }));
  expect(await screen.findByText("Ann plays the viola.")).toBeDefined();
  expect(edit).toHaveBeenCalledWith("f1", "Ann plays the viola.");
});

test("a memory is forgotten, once that is confirmed", async () => {
  const forget = vi.spyOn(rest, "forgetMemory").mockImplementation((id) => {
    kept = kept.filter((one) => one.memory_id !== id);
    return Promise.resolve();
  });
  show();
  await userEvent.click(await screen.findByRole("button", { name: `Forget: ${fact.text}` }));
  expect(forget).not.toHaveBeenCalled();
  await userEvent.click(screen.getByRole("button", { name: "Forget" }));
  expect(await screen.findByText("1 in all, the newest first.")).toBeDefined();
  expect(forget).toHaveBeenCalledWith("f1");
});

test("a memory is shared with all users where that is on, and no more", async () => {
  const share = vi.spyOn(rest, "shareMemory").mockImplementation((id, shared) => {
    kept = kept.map((one) => (one.memory_id === id ? { ...one, shared } : one));
    return Promise.resolve(memory({ shared }));
  });
  vi.spyOn(rest, "memoryStatus").mockResolvedValue({ ...STATUS, collective: true });
  kept = [{ ...engram, query: "Where are my boots?" }];
  show();
  const name = "Share with all users: Boots are in the shed.";
  await userEvent.click(await screen.findByRole("button", { name }));
  expect(share).not.toHaveBeenCalled();
  const dialog = screen.getByRole("dialog");
  expect(dialog.textContent).toContain("“Where are my boots?” with “Boots are in the shed.”");
  await userEvent.click(within(dialog).getByRole("button", { name: "Share" }));
  expect(await screen.findByText("shared with all users")).toBeDefined();
  await userEvent.click(screen.getByRole("button", { name, pressed: true }));
  expect(await screen.findByRole("button", { name, pressed: false })).toBeDefined();
  expect(share.mock.calls).toEqual([
    ["e1", true],
    ["e1", false],
  ]);
});

test("without sharing nothing can be shared, and what others share is not one's own to change", async () => {
  kept = [fact, { ...engram, own: false, shared: true }];
  show();
  const row = (await screen.findByText("Boots are in the shed.")).closest("li") as HTMLElement;
  expect(row.textContent).toContain("shared by another user");
  expect(within(row).queryAllByRole("button")).toEqual([]);
  expect(screen.queryByRole("button", { name: /^Share/ })).toBeNull();
});

test("everything is deleted, once that is confirmed", async () => {
  const forgetAll = vi.spyOn(rest, "forgetAll").mockImplementation(() => {
    kept = [];
    return Promise.resolve();
  });
  show();
  await userEvent.click(await screen.findByRole("button", { name: "Delete everything" }));
  expect(forgetAll).not.toHaveBeenCalled();
  const dialog = screen.getByRole("dialog");
  await userEvent.click(within(dialog).getByRole("button", { name: "Delete everything" }));
  expect(await screen.findByText(/Nothing is remembered yet/)).toBeDefined();
});

test("a file is taken in, part by part, with its lines' numbers", async () => {
  const take = vi
    .spyOn(rest, "importMemories")
    .mockResolvedValueOnce({ added: 2, known: 1 })
    .mockResolvedValueOnce({ added: 0, known: 4 });
  show();
  const line = `{"text":"${"x".repeat(400_000)}"}`;
  // jsdom's files have no text of their own.
  const text = () => Promise.resolve(`${line}\n${line}`);
  const file = Object.assign(new File(["x"], "memory.jsonl"), { text });
  await userEvent.upload(screen.getByLabelText("A file to take in"), file);
  await vi.waitFor(() => expect(notice).toHaveBeenCalledWith("Taken in: 2. Known already: 5."));
  expect(take.mock.calls.map(([, first]) => first)).toEqual([1, 2]);
});

test("how it does is said where that matters", () => {
  expect(statusWords(STATUS)).toEqual([]);
  expect(statusWords({ ...STATUS, write_enabled: false })[0]).toContain("Nothing new");
  expect(statusWords({ ...STATUS, reembedding: 2000, reembedded: 50 })[0]).toContain("50 of 2,000");
  expect(statusWords({ ...STATUS, message: "No model." })).toEqual(["No model."]);
});
