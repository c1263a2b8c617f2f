import { afterEach, expect, test, vi } from "vitest";

import { rest } from "./rest";

afterEach(() => vi.unstubAllGlobals());

function answers(status: number, body: string) {
  const fetch = vi.fn(() => Promise.resolve(new Response(body === "" ? null : body, { status })));
  vi.stubGlobal("fetch", fetch);
  return fetch;
}

test("a body is JSON, and the session's id is escaped", async () => {
  const fetch = answers(200, "{}");
  await rest.renameSession("a/b", "Tea");
  expect(fetch).toHaveBeenCalledWith("/api/sessions/a%2Fb", {
    method: "PATCH",
    headers: { "content-type": "application/json" },
    body: '{"title":"Tea"}',
  });
});

test("an empty answer is fine", async () => {
  answers(204, "");
  await expect(rest.deleteSession("s1")).resolves.toBeUndefined();
});

test("a refusal keeps its code and its words", async () => {
  answers(409, '{"error":{"code":"busy","message":"It is answering."}}');
  await expect(rest.deleteSession("s1")).rejects.toMatchObject({
    status: 409,
    code: "busy",
    message: "It is answering.",
  });
});

test.each([
  [502, "<html>"],
  [500, "{}"],
])("a refusal without our body (%d %s) has words too", async (status, body) => {
  answers(status, body);
  await expect(rest.sessions()).rejects.toMatchObject({ status, code: "http" });
});

test("an answer that is no JSON is said to be", async () => {
  answers(200, "<html>");
  await expect(rest.sessions()).rejects.toMatchObject({ code: "not_json" });
});

test("no answer at all says what to look at", async () => {
  vi.stubGlobal("fetch", () => Promise.reject(new TypeError("failed to fetch")));
  await expect(rest.sessions()).rejects.toMatchObject({ status: 0, code: "unreachable" });
});

test("an answer of another shape is refused with its place", async () => {
  answers(200, '{"sessions":[{"session_id":"s1","title":null}]}');
  await expect(rest.sessions()).rejects.toMatchObject({ code: "mismatch" });
  answers(200, '{"sessions":[{"session_id":"s1","title":null}]}');
  await expect(rest.sessions()).rejects.toThrow(".sessions[0].title: expected text");
});
