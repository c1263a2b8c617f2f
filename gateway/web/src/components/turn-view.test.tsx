import { render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, test, vi } from "vitest";

import type { Turn } from "../state/model";
import { about, answerChunk, response, turn, turnAfter } from "../state/testing";
import { type Local2, Local2Context } from "./context";
import { TurnView } from "./turn-view";

const client = { retry: vi.fn(), stopTurn: vi.fn() };

function show(one: Turn) {
  return render(
    <Local2Context value={{ client } as unknown as Local2}>
      <TurnView turn={one} />
    </Local2Context>,
  ).container;
}

test("question, answer and how it came to be", () => {
  const page = show(turnAfter(answerChunk(0, "x"), response({ demo: true, left_out: 2 })));
  expect(page.textContent).toContain("Why?");
  expect(page.textContent).toContain("Because.");
  const footer = page.querySelector("footer")?.textContent ?? "";
  expect(footer).toContain("mdemo");
  expect(footer).toContain("3 tokens");
  expect(footer).toContain("first after 0.2 s");
  expect(footer).toContain("2 older messages left out");
  expect(screen.getByRole("button", { name: "Copy the answer" })).toBeDefined();
});

test("a question is text, not markup", () => {
  const page = show(turn({ query: "<b>**bold**</b>" }));
  expect(page.querySelector(".question")?.textContent).toContain("<b>**bold**</b>");
  expect(page.querySelector("b, strong")).toBeNull();
});

test("what failed says why, and can be asked again as a new turn", async () => {
  const failed = turnAfter(
    response({ finish_reason: "error", reason: "The model server is gone." }),
  );
  show(failed);
  expect(screen.getByRole("alert").textContent).toContain("The model server is gone.");
  await userEvent.click(screen.getByRole("button", { name: "Retry" }));
  expect(client.retry).toHaveBeenCalledWith(failed);
});

test("what was stopped is marked, and keeps its text", () => {
  const page = show(turnAfter(response({ finish_reason: "cancelled", answer: "Be" })));
  expect(page.textContent).toContain("Be");
  expect(page.textContent).toContain("Stopped");
});

test("an incomplete answer can be asked for again; a complete one needs no words", () => {
  show(turnAfter(response({ finish_reason: "incomplete" })));
  expect(screen.getByRole("button", { name: "Retry" })).toBeDefined();
  expect(show(turnAfter(response())).querySelector(".ending")).toBeNull();
});

test("a queued question says its place, and can be taken back", async () => {
  const queued = turnAfter({ type: "queued", ...about, position: 2 });
  const page = show(queued);
  expect(page.textContent).toContain("Queued, 2 before it");
  await userEvent.click(screen.getByRole("button", { name: "Cancel" }));
  expect(client.stopTurn).toHaveBeenCalledWith(queued);
});

test("a note says why it waits", () => {
  const page = show(
    turnAfter({
      type: "agent_state",
      ...about,
      agent: "generator",
      state: "GENERATING",
      note: "the model is being loaded",
    }),
  );
  expect(page.textContent).toContain("the model is being loaded");
});

test("a screen reader hears the latest answer, once it is whole", () => {
  const View = (one: Turn) => (
    <Local2Context value={{ client } as unknown as Local2}>
      <TurnView turn={one} latest />
    </Local2Context>
  );
  const page = render(View(turnAfter(answerChunk(0, "Bec"))));
  const reply = page.container.querySelector(".reply");
  expect(reply?.getAttribute("aria-live")).toBe("polite");
  expect(reply?.getAttribute("aria-busy")).toBe("true");
  page.rerender(View(turnAfter(response())));
  expect(reply?.getAttribute("aria-busy")).toBe("false");
});
