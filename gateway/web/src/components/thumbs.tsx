// Was this answer good? The same thumb once more takes the vote back.

import { ThumbsDown, ThumbsUp } from "lucide-react";

import type { Turn } from "../state/model";
import { useClient } from "./context";

const VOTES = [
  { sentiment: 1, label: "A good answer", Icon: ThumbsUp },
  { sentiment: -1, label: "A bad answer", Icon: ThumbsDown },
];

export function Thumbs({ turn }: { turn: Turn }) {
  const client = useClient();
  return VOTES.map(({ sentiment, label, Icon }) => {
    const given = turn.sentiment === sentiment;
    return (
      <button
        key={sentiment}
        type="button"
        className="icon-button small thumb"
        aria-label={label}
        title={given ? `${label}: take it back` : label}
        aria-pressed={given}
        onClick={() => client.vote(turn, given ? 0 : sentiment)}
      >
        <Icon size={14} fill={given ? "currentColor" : "none"} aria-hidden />
      </button>
    );
  });
}
