import { render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, test, vi } from "vitest";

import { rest } from "../connection/rest";
import type { Turn } from "../state/model";
import { about, answerChunk, memory, response, turn, turnAfter } from "../state/testing";
import { type Local2, Local2Context } from "./context";
import { TurnView } from "./turn-view";

const client = { retry: vi.fn(), stopTurn: vi.fn(), vote: vi.fn() };

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

test("a thumb is given, and the same one takes it back", async () => {
  const answered = turnAfter(response());
  const { unmount } = render(
    <Local2Context value={{ client } as unknown as Local2}>
      <TurnView turn={answered} />
    </Local2Context>,
  );
  await userEvent.click(screen.getByRole("button", { name: "A good answer", pressed: false }));
  expect(client.vote).toHaveBeenLastCalledWith(answered, 1);
  unmount();
  const liked = { ...answered, sentiment: 1 };
  show(liked);
  await userEvent.click(screen.getByRole("button", { name: "A good answer", pressed: true }));
  expect(client.vote).toHaveBeenLastCalledWith(liked, 0);
});

test("what failed is not voted on", () => {
  show(turnAfter(response({ finish_reason: "error" })));
  expect(screen.queryByRole("button", { name: "A good answer" })).toBeNull();
});

test("a grade opens to the critic's words; what was not graded says why", async () => {
  const grade = { score: 2, rubric_name: "style", feedback: "Too long.", reason: "", model: "c" };
  show({ ...turnAfter(response()), grade });
  expect(screen.queryByText("Too long.")).toBeNull();
  await userEvent.click(screen.getByRole("button", { name: "graded 2/5" }));
  expect(screen.getByText("Too long.")).toBeDefined();
  show({ ...turnAfter(response()), grade: { ...grade, score: null, reason: "It only echoes." } });
  await userEvent.click(screen.getByRole("button", { name: "not graded" }));
  expect(screen.getByText("It only echoes.")).toBeDefined();
});

test("what was remembered is looked up; what is forgotten since is said to be", async () => {
  const known = memory({ memory_id: "e1", kind: "engram", text: "Boots are in the shed." });
  const items = vi.spyOn(rest, "memoryItems").mockResolvedValue([known]);
  const uses = ["e1", "e2"].map((memory_id) => ({ memory_id, kind: "engram", score: 0.5 }));
  show(turnAfter(response({ recalled: uses, groundedness: "grounded" })));
  expect(screen.getByText("grounded")).toBeDefined();
  await userEvent.click(screen.getByRole("button", { name: "2 memories" }));
  expect(items).toHaveBeenCalledWith(["e1", "e2"]);
  expect(await screen.findByText("Boots are in the shed.")).toBeDefined();
  expect(screen.getByText("One that has been forgotten since.")).toBeDefined();
});

test("why nothing was recalled is said", async () => {
  show(turnAfter(response({ not_recalled: "The memory took too long." })));
  await userEvent.click(screen.getByRole("button", { name: "nothing recalled" }));
  expect(screen.getByText("The memory took too long.")).toBeDefined();
});
