// Which session does the address name?

import { useRoute } from "wouter";

export function useSessionId(): string | null {
  const [, params] = useRoute<{ sessionId: string }>("/c/:sessionId");
  return params?.sessionId ?? null;
}
