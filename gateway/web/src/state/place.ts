// Who answers, and what leaves this machine? Said only as far as it is known to be true.

import type { BackendView, Models, Web } from "../wire/rest";

const LOOPBACK = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/;

/** The other machine whose model server answers; empty where it is this one. */
export function remoteHost(backend: BackendView | undefined): string {
  if (backend === undefined || !URL.canParse(backend.url)) {
    return "";
  }
  const { hostname, host } = new URL(backend.url);
  return LOOPBACK.test(hostname) ? "" : host;
}

/** Ollama hands what is asked of models with such names on to its own servers. */
const IN_THE_CLOUD = /[:-]cloud$/;

/** The other machine that answers what is asked of the default model; empty where it is this one. */
export function answeringHost(models: Models | null): string {
  const name = models?.roles.find(({ role }) => role === "default")?.model ?? "";
  return IN_THE_CLOUD.test(name) ? "ollama.com" : remoteHost(models?.backend);
}

export function placeWords(models: Models | null, web: Web | null): string {
  if (models === null || web === null) {
    return "";
  }
  const host = answeringHost(models);
  const cloud = models.models.some(({ name }) => IN_THE_CLOUD.test(name));
  const searches = web.enabled ? " What the assistant looks up on the web leaves it, too." : "";
  if (host !== "") {
    return `The model runs on ${host}: what you ask is sent there.${searches}`;
  }
  if (cloud) {
    return `What you ask is answered on this machine, unless you pick a model of Ollama's cloud.${searches}`;
  }
  return web.enabled
    ? "Your chats stay on this machine; what the assistant looks up on the web leaves it."
    : "Everything you ask stays on this machine.";
}

/** What to say while no answer can come, and why; null where one can. */
export function waitingWords(
  backend: BackendView | undefined,
): { title: string; text: string } | null {
  if (backend === undefined || backend.state === "unknown") {
    return null;
  }
  if (backend.state === "loading") {
    return {
      title: "The model is loading.",
      text: "What you ask is answered as soon as it is there.",
    };
  }
  return backend.kind === "none" ? { title: "No model answers.", text: backend.message } : null;
}
