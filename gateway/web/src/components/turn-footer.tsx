// How did this answer come to be? One line below it.

import type { Ending, Turn } from "../state/model";
import { seconds } from "../state/words";
import { CopyButton } from "./copy-button";
import { TurnActions } from "./turn-actions";

export function TurnFooter({ turn, free }: { turn: Turn; free: boolean }) {
  const { ending } = turn;
  if (!turn.accepted) {
    return null;
  }
  return (
    <footer className="turn-footer">
      {turn.answer !== "" && <CopyButton text={turn.answer} label="Copy the answer" />}
      {free && <TurnActions turn={turn} />}
      {ending !== null && <Facts ending={ending} />}
      {turn.critique?.score != null && (
        <span className="fact" title={turn.critique.feedback}>
          {turn.critique.rubric_name} {turn.critique.score}/5
        </span>
      )}
    </footer>
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
  if (ending.answerTokens !== null) {
    facts.push({
      text: `${ending.answerTokens.toLocaleString()} tokens`,
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
