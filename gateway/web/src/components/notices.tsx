// What went wrong that belongs to no turn?

import { X } from "lucide-react";
import { useEffect } from "react";

import type { AppState, Notice } from "../state/model";
import type { Store } from "../state/store";
import { useAppState } from "./context";

const SHOWN_MS = 8000;
const noticesOf = (state: AppState) => state.notices;

export function Notices({ store }: { store: Store }) {
  const notices = useAppState(noticesOf);
  return (
    <div className="notices" role="alert">
      {notices.map((notice) => (
        <Toast
          key={notice.id}
          notice={notice}
          onDone={() => store.dispatch({ type: "notice_dismissed", id: notice.id })}
        />
      ))}
    </div>
  );
}

function Toast({ notice, onDone }: { notice: Notice; onDone: () => void }) {
  useEffect(() => {
    const timer = setTimeout(onDone, SHOWN_MS);
    return () => clearTimeout(timer);
    // `onDone` is another function at each render; the notice is what counts.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [notice.id]);
  return (
    <div className="toast">
      <span dir="auto">{notice.text}</span>
      <button type="button" className="icon-button small" aria-label="Close" onClick={onDone}>
        <X size={15} aria-hidden />
      </button>
    </div>
  );
}
