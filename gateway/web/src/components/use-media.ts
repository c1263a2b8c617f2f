// Does the window match a media query?

import { useSyncExternalStore } from "react";

export function useMedia(query: string): boolean {
  return useSyncExternalStore(
    (changed) => {
      const media = matchMedia(query);
      media.addEventListener("change", changed);
      return () => media.removeEventListener("change", changed);
    },
    () => matchMedia(query).matches,
  );
}

/** As in styles/layout.css: below it, the sidebar is a drawer. */
export const PHONE = "(max-width: 767px)";
