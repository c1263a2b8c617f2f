// Where may a link lead?

const SAFE = new Set(["http:", "https:", "mailto:"]);

/**
 * The address, where following it can do no harm; null otherwise. Relative ones are refused too: a model
 * has no business linking into this app, where an address is an action.
 */
export function safeHref(address: string | undefined): string | null {
  let url: URL;
  try {
    url = new URL(address ?? "");
  } catch {
    return null;
  }
  return SAFE.has(url.protocol) ? url.href : null;
}

export function hostOf(href: string): string {
  return new URL(href).host.replace(/^www\./, "");
}

/** The address of a page, where it is one. */
export function webHref(address: string): string | null {
  const href = safeHref(address);
  return href?.startsWith("http") === true ? href : null;
}
