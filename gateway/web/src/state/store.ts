// Where does the state live? One value, one way to change it.

import { type Action, reduce } from "./reducer";
import { type AppState, initialState } from "./model";

export interface Store {
  get: () => AppState;
  dispatch: (action: Action) => void;
  subscribe: (listener: () => void) => () => void;
}

export function createStore(state: AppState = initialState): Store {
  let now = state;
  const listeners = new Set<() => void>();
  return {
    get: () => now,
    dispatch: (action) => {
      const next = reduce(now, action);
      if (next === now) {
        return;
      }
      now = next;
      for (const listener of listeners) {
        listener();
      }
    },
    subscribe: (listener) => {
      listeners.add(listener);
      return () => {
        listeners.delete(listener);
      };
    },
  };
}
