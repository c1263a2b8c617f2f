// Which turns does the model know by a summary alone? A line after the last of them; they themselves stay.

import { FoldVertical } from "lucide-react";

import type { SummaryView } from "../wire/rest";

export function SummedUp({ summary }: { summary: SummaryView }) {
  const turns = summary.turns === 1 ? "the turn" : `the ${summary.turns} turns`;
  return (
    <details className="summed-up">
      <summary>
        <FoldVertical size={14} aria-hidden />
        The model reads a summary of {turns} above
      </summary>
      <p dir="auto">{summary.text}</p>
    </details>
  );
}
