import { expect, test } from "vitest";

import type { BackendView, Models } from "../wire/rest";
import { answeringHost, placeWords, remoteHost, waitingWords } from "./place";

const backend = (change: Partial<BackendView> = {}): BackendView => ({
  ...{ kind: "ollama", url: "http://127.0.0.1:11434", demo: false, state: "ready", message: "" },
  ...change,
});
const models = (change: Partial<BackendView> = {}, ...names: string[]): Models => ({
  ...{ options: {}, tools: [], commands: [], refused: [], counts: {} },
  backend: backend(change),
  roles: [{ role: "default", model: names[0] ?? "small", available: true, hint: "" }],
  models: names.map((name) => ({ name, size_bytes: 0 })),
});
const web = (enabled: boolean) => ({ enabled, tools: [], problems: [] });

test.each([
  ["http://127.0.0.1:11434", ""],
  ["http://127.1.2.3:1", ""],
  ["http://localhost:1", ""],
  ["http://[::1]:1", ""],
  ["", ""],
  ["http://10.0.0.7:11434", "10.0.0.7:11434"],
  ["http://localhost.evil.example:1", "localhost.evil.example:1"],
  ["https://models.example", "models.example"],
])("%s answers from %j", (url, host) => {
  expect(remoteHost(backend({ url }))).toBe(host);
});

test("nothing is promised that is not known or not true", () => {
  expect(placeWords(null, web(false))).toBe("");
  expect(placeWords(models(), null)).toBe("");
  expect(placeWords(models(), web(false))).toBe("Everything you ask stays on this machine.");
  expect(placeWords(models(), web(true))).toContain("on the web leaves it");
  const far = placeWords(models({ url: "http://far:1" }), web(true));
  expect(far).toContain("far:1");
  expect(far).not.toContain("stay");
});

test.each(["gpt-oss:120b-cloud", "kimi-k2:cloud"])("%s does not run here", (name) => {
  expect(placeWords(models({}, name), web(false))).toContain("The model runs on ollama.com");
  expect(answeringHost(models({}, name))).toBe("ollama.com");
  const picked = placeWords(models({}, "small", name), web(true));
  expect(picked).toContain("unless you pick a model of Ollama's cloud");
  expect(picked).toContain("on the web leaves it");
});

test("why no answer comes is said as it is", () => {
  const title = (change: Partial<BackendView>) => waitingWords(backend(change))?.title;
  expect(title({})).toBeUndefined();
  expect(title({ kind: "embedded", state: "idle" })).toBeUndefined();
  expect(title({ kind: "none", state: "unknown" })).toBeUndefined();
  expect(title({ kind: "embedded", state: "loading" })).toBe("The model is loading.");
  expect(title({ kind: "none", state: "loading" })).toBe("The model is loading.");
  expect(title({ kind: "none", state: "unreachable" })).toBe("No model answers.");
});
