// How did this answer come to be? One line below it; what has more to say opens.

import { useId, useState } from "react";

import { gradeWords, GROUNDS, recallWords } from "../state/memories";
import type { Ending, Turn } from "../state/model";
import { seconds } from "../state/words";
import type { GradeView } from "../wire/rest";
import { CopyButton } from "./copy-button";
import { Remembered } from "./remembered";
import { Thumbs } from "./thumbs";
import { TurnActions } from "./turn-actions";
import { TurnDetail } from "./turn-detail";

type Open = "memories" | "grade" | null;

export function TurnFooter({ turn, free }: { turn: Turn; free: boolean }) {
  const { ending, grade } = turn;
  const [open, setOpen] = useState<Open>(null);
  const id = useId();
  if (!turn.accepted) {
    return null;
  }
  const detail = (name: Exclude<Open, null>) => ({
    open: open === name,
    id,
    onToggle: () => setOpen(open === name ? null : name),
  });
  const recalled = ending === null ? "" : recallWords(ending);
  return (
    <>
      <footer className="turn-footer">
        {turn.answer !== "" && <CopyButton text={turn.answer} label="Copy the answer" />}
        {turn.phase === "answered" && <Thumbs turn={turn} />}
        {free && <TurnActions turn={turn} />}
        {ending !== null && <Facts ending={ending} />}
        {recalled !== "" && <Detail {...detail("memories")}>{recalled}</Detail>}
        {grade !== null && <Detail {...detail("grade")}>{gradeWords(grade)}</Detail>}
      </footer>
      <div id={id} hidden={open === null}>
        {open === "memories" && ending !== null && <Remembered ending={ending} />}
        {open === "grade" && grade !== null && <Grade grade={grade} />}
      </div>
    </>
  );
}

interface DetailProps {
  open: boolean;
  id: string;
  onToggle: () => void;
  children: string;
}

function Detail({ open, id, onToggle, children }: DetailProps) {
  return (
    <button
      type="button"
      className="fact link-button"
      aria-expanded={open}
      aria-controls={id}
      onClick={onToggle}
    >
      {children}
    </button>
  );
}

function Grade({ grade }: { grade: GradeView }) {
  return (
    <TurnDetail shown={grade}>
      <p dir="auto">{grade.score === null ? grade.reason : grade.feedback}</p>
      {grade.model !== "" && (
        <p className="muted">
          Judged by {grade.model} as “{grade.rubric_name}”, which can be wrong.
        </p>
      )}
    </TurnDetail>
  );
}

function Facts({ ending }: { ending: Ending }) {
  return (
    <>
      {ending.model !== "" && (
        <span className="fact model">
          {ending.model}
          {ending.demo && <span className="demo-tag">demo</span>}
        </span>
      )}
      {factsOf(ending).map(({ text, title }) => (
        <span key={title} className="fact" title={title}>
          {text}
        </span>
      ))}
    </>
  );
}

export function factsOf(ending: Ending): { text: string; title: string }[] {
  const facts: { text: string; title: string }[] = [];
  const ground = GROUNDS[ending.groundedness];
  if (ground !== undefined && ending.finishReason !== "error") {
    facts.push({ text: ground.text, title: ground.about });
  }
  if (ending.answerTokens !== null) {
    const unit = ending.answerTokens === 1 ? "token" : "tokens";
    facts.push({
      text: `${ending.answerTokens.toLocaleString()} ${unit}`,
      title: tokenTitle(ending),
    });
  }
  if (ending.firstTokenS !== null) {
    facts.push({
      text: `first after ${seconds(ending.firstTokenS)}`,
      title: "Time to the first token",
    });
  }
  if (ending.seconds !== null) {
    facts.push({
      text: `${seconds(ending.seconds)} in all`,
      title: "From the turn's start to its end",
    });
  }
  if (ending.leftOut > 0) {
    const messages = ending.leftOut === 1 ? "1 older message" : `${ending.leftOut} older messages`;
    facts.push({
      text: `${messages} left out`,
      title: "They did not fit into the model's context",
    });
  }
  return facts;
}

function tokenTitle(ending: Ending): string {
  const prompt = ending.promptTokens === null ? "" : `, ${ending.promptTokens} of the prompt`;
  const context = ending.numCtx === null ? "" : `; the context holds ${ending.numCtx}`;
  return `Tokens generated${prompt}${context}`;
}
