// How do components reach the state and the gateway?

import { createContext, use, useSyncExternalStore } from "react";

import type { ChatClient } from "../connection/client";
import type { AppState } from "../state/model";
import type { Store } from "../state/store";

export interface Local2 {
  readonly store: Store;
  readonly client: ChatClient;
}

export const Local2Context = createContext<Local2 | null>(null);

function useLocal2(): Local2 {
  const local2 = use(Local2Context);
  if (local2 === null) {
    throw new Error("this component has to stand inside Local2Context");
  }
  return local2;
}

export function useClient(): ChatClient {
  return useLocal2().client;
}

/** `select` has to return something that stays the same while its part of the state does. */
export function useAppState<T>(select: (state: AppState) => T): T {
  const { store } = useLocal2();
  return useSyncExternalStore(store.subscribe, () => select(store.get()));
}
