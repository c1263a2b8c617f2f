// Who answers, and what leaves this machine? Said only as far as it is known to be true.

import type { BackendView, Web } from "../wire/rest";

const LOOPBACK = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/;

/** The other machine whose model server answers; empty where it is this one. */
export function remoteHost(backend: BackendView | undefined): string {
  if (backend === undefined || !URL.canParse(backend.url)) {
    return "";
  }
  const { hostname, host } = new URL(backend.url);
  return LOOPBACK.test(hostname) ? "" : host;
}

export function placeWords(backend: BackendView | undefined, web: Web | null): string {
  if (backend === undefined || web === null) {
    return "";
  }
  const host = remoteHost(backend);
  const searches = web.enabled ? " What the assistant looks up on the web leaves it, too." : "";
  if (host !== "") {
    return `The model runs on ${host}: what you ask is sent there.${searches}`;
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
