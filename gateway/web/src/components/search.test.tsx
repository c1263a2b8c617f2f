import { render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, test, vi } from "vitest";

import { rest, RestError } from "../connection/rest";
import type { HitView } from "../wire/rest";
import { type Local2, Local2Context } from "./context";
import { piecesOf, SearchHits, useSearch } from "./search";

const hit = (change: Partial<HitView> = {}): HitView => ({
  ...{ session_id: "s1", title: "Shoes", query_id: "q7", created_at: "" },
  ...{ snippet: "rain boots", marks: [{ start: 5, end: 10 }] },
  ...change,
});
const client = { showBranch: vi.fn(() => Promise.resolve()), notice: vi.fn() };

function Search({ words }: { words: string }) {
  const found = useSearch(words);
  return found === null ? null : <SearchHits found={found} onChosen={vi.fn()} />;
}

function show(words: string) {
  return render(
    <Local2Context value={{ client } as unknown as Local2}>
      <Search words={words} />
    </Local2Context>,
  );
}

test.each([
  ["rain boots", [{ start: 5, end: 10 }], ["rain ", "*boots"]],
  ["🙂🙂 boots", [{ start: 3, end: 8 }], ["🙂🙂 ", "*boots"]],
  ["ab", [], ["ab"]],
  ["abc", [{ start: 0, end: 99 }], ["*abc"]],
  [
    "abcd",
    [
      { start: 2, end: 3 },
      { start: 0, end: 1 },
    ],
    ["ab", "*c", "d"],
  ],
])("%j with %j", (snippet, marks, pieces) => {
  expect(piecesOf({ snippet, marks }).map((one) => (one.marked ? "*" : "") + one.text)).toEqual(
    pieces,
  );
});

test("a hit opens its chat on the branch that holds it", async () => {
  const search = vi.spyOn(rest, "search").mockResolvedValue([hit()]);
  show(" boots ");
  await userEvent.click(await screen.findByRole("button", { name: /Shoes/ }));
  expect(search).toHaveBeenCalledExactlyOnceWith("boots");
  expect(client.showBranch).toHaveBeenCalledWith("s1", "q7");
  await vi.waitFor(() => expect(location.pathname + location.hash).toBe("/c/s1#q7"));
});

test("nothing found, and a search that fails, are said", async () => {
  const search = vi.spyOn(rest, "search").mockResolvedValueOnce([]);
  show("x").unmount();
  const { unmount } = show("boots");
  await screen.findByText("Nothing found.");
  unmount();
  search.mockRejectedValueOnce(new RestError(503, "down", "Try again in a moment."));
  show("boots");
  await screen.findByText("Try again in a moment.");
});
