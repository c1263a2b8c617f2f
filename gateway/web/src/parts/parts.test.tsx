import { render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, test, vi } from "vitest";

import { type Local2, Local2Context } from "../components/context";
import type { Approval } from "../state/model";
import type { ToolCallView } from "../wire/generated";
import { answerWords } from "./approval";
import { viewOf } from "./index";

function show(part: { kind: string; key: string } & Record<string, unknown>) {
  const View = viewOf(part.kind);
  return render(<View part={part} />).container;
}

const call: ToolCallView = {
  call_id: "c1",
  tool: "web_search",
  args: { query: "slow joiner" },
  untrusted: true,
  outcome: "ok",
  result: '{"hits":[1,2]}',
  sources: [
    { title: "Guide", url: "https://www.example.org/guide" },
    { title: "Trap", url: "javascript:alert(1)" },
    { url: 7 },
  ],
  seconds: 1.25,
};

const tool = (change: Partial<ToolCallView> = {}, over = false) => ({
  ...{ kind: "tool", key: "k", over },
  call: { ...call, ...change },
});

test("a tool card says what it did, and how long it took", () => {
  const page = show(tool());
  expect(page.textContent).toContain("Web search “slow joiner”");
  expect(page.textContent).toContain("1.3 s");
});

test("its inside shows arguments and result as text", async () => {
  const page = show(tool({ result: "<img src=x onerror=alert(1)>" }));
  await userEvent.click(screen.getByRole("button"));
  expect(page.textContent).toContain('"query": "slow joiner"');
  expect(page.textContent).toContain("<img src=x onerror=alert(1)>");
  expect(page.querySelector("img")).toBeNull();
});

test("JSON in a result is indented", async () => {
  const page = show(tool());
  await userEvent.click(screen.getByRole("button"));
  expect(page.querySelectorAll("pre")[1]?.textContent).toContain('"hits": [\n');
});

test("sources are links where they lead somewhere", () => {
  show(tool());
  expect(screen.getAllByRole("link").map((link) => link.getAttribute("href"))).toEqual([
    "https://www.example.org/guide",
  ]);
  expect(screen.getByText("Trap")).toBeDefined();
  expect(screen.getByText("example.org")).toBeDefined();
});

test("a memory that a tool found leads to its chat, or to all that is remembered", () => {
  const found = { url: "", session_id: "s1", query_id: "q1", memory_id: "m1" };
  const pinned = { title: "She sails.", url: "", session_id: "", query_id: "", memory_id: "m2" };
  show(tool({ sources: [{ ...found, title: "Boots are in the shed." }, pinned] }));
  const links = screen.getAllByRole("link").map((link) => link.getAttribute("href"));
  expect(links).toEqual(["/c/s1#q1", "/memory"]);
  expect(screen.getByText("Boots are in the shed.")).toBeDefined();
});

test.each([
  ["timeout", "took too long"],
  ["crashed", "its process ended"],
  ["brand_new", "brand new"],
])("the outcome %s is told as “%s”", (outcome, words) => {
  expect(show(tool({ outcome })).textContent).toContain(words);
});

test("a call that runs is live, until its turn is over", () => {
  expect(show(tool({ outcome: "running" })).querySelector("[data-outcome=running]")).not.toBeNull();
  expect(show(tool({ outcome: "running" }, true)).textContent).toContain("stopped");
});

test("a tool that nobody wrote a view for has its name", () => {
  const page = show(tool({ tool: "notes.add_many", sources: [] }));
  expect(page.textContent).toContain("Notes add many");
});

test("a very long result is cut until asked for", async () => {
  const page = show(tool({ result: "x".repeat(9000) }));
  await userEvent.click(screen.getByRole("button"));
  expect(page.querySelectorAll("pre")[1]?.textContent).toHaveLength(4001);
  await userEvent.click(screen.getByRole("button", { name: /Show all/ }));
  expect(page.querySelectorAll("pre")[1]?.textContent).toHaveLength(9000);
});

const thinking = (change: object) => ({
  ...{ kind: "thinking", key: "k", text: "Let me see.", live: false, since: null, ms: null },
  ...change,
});

test("thinking is folded, with its time", async () => {
  const page = show(thinking({ ms: 4200 }));
  expect(page.textContent).toBe("Thought for 4.2 s");
  await userEvent.click(screen.getByRole("button"));
  expect(page.textContent).toContain("Let me see.");
});

test("thinking says when it is live, and nothing of a time that nobody took", () => {
  expect(show(thinking({ live: true, since: Date.now() })).textContent).toContain("Thinking");
  expect(show(thinking({})).textContent).toBe("Thought about it");
});

test("thinking is text, not markup", async () => {
  const page = show(thinking({ text: "<b>bold</b> ![x](https://example.org/x.png)" }));
  await userEvent.click(screen.getByRole("button"));
  expect(page.querySelector("b, img, a")).toBeNull();
});

const approve = vi.fn();

function showApproval(change: object = {}) {
  const View = viewOf("approval");
  const approval = {
    approvalId: "a1",
    tool: "remember_this",
    args: { text: "short answers" },
    reason: "It adds something.",
    ...{ closed: false, expired: false, here: null, elsewhere: false },
    expires: new Date(Date.now() + 60_000).toISOString(),
    answered: null,
    ...change,
  };
  const part = { kind: "approval", key: "k", sessionId: "s1", approval, over: false };
  return render(
    <Local2Context value={{ client: { approve } } as unknown as Local2}>
      <View part={part} />
    </Local2Context>,
  ).container;
}

test("an approval hides nothing of what would be done", () => {
  const text = `${"x".repeat(9000)}\u202e\u200b<b>end</b>`;
  const page = showApproval({ args: { text } });
  expect(page.querySelector("pre")?.textContent).toContain("\\u202e\\u200b<b>end</b>");
  expect(page.querySelector("b")).toBeNull();
});

test("until there is word of the answer, it can be given again", () => {
  expect(showApproval({ here: true }).textContent).toContain("Allowed; passing it on…");
  expect(screen.getByRole("button", { name: "Allow once" })).toBeDefined();
});

test("an approval shows exactly what would be done, and sends the answer", async () => {
  showApproval();
  expect(screen.getByText(/short answers/)).toBeDefined();
  expect(screen.getByText("It adds something.")).toBeDefined();
  expect(screen.getByText(/denied in (?:1 min|\d+ s)/)).toBeDefined();
  await userEvent.click(screen.getByRole("button", { name: "Deny" }));
  expect(approve).toHaveBeenCalledWith("s1", "a1", false);
});

test.each([
  [{}, true, "Time is up."],
  [{ here: true }, true, "Allowed; passing it on…"],
  [{ closed: true, answered: true, here: true }, false, "Allowed."],
  [{ closed: true, answered: false, elsewhere: true }, false, "Denied elsewhere."],
  [{ closed: true, expired: true }, false, "Not answered in time, so it was denied."],
  [{ closed: true }, false, "Not needed any more."],
])("an approval %j that waits (%j) says %j", (change, waits, words) => {
  const approval: Approval = {
    ...{ approvalId: "a1", tool: "t", args: {}, reason: "", expires: "", answered: null },
    ...{ closed: false, expired: false, here: null, elsewhere: false },
    ...change,
  };
  expect(answerWords(approval, waits)).toBe(words);
});

test("a part of a kind from a newer server is shown as what it holds", () => {
  const page = show({ kind: "hologram", key: "k", shape: "cube" });
  expect(page.querySelector("summary")?.textContent).toBe("hologram");
  expect(page.textContent).toContain('"shape": "cube"');
});
