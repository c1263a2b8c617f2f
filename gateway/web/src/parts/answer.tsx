// How is the answer shown?

import { Markdown } from "./markdown/markdown";
import { definePart, type PartOf } from "./registry";

export function AnswerPart({ part }: { part: PartOf<"answer"> }) {
  return (
    <div className="answer markdown" data-live={part.live} dir="auto">
      <Markdown text={part.text} live={part.live} />
    </div>
  );
}

definePart("answer", AnswerPart);
