// What does a chat without a question show? A word, and a few questions to begin with.

import { Clock, Lightbulb, type LucideIcon, PenLine, Terminal } from "lucide-react";

import type { AppState } from "../state/model";
import { placeWords } from "../state/place";
import { useAppState } from "./context";
import { Logo } from "./logo";

const SUGGESTIONS: readonly { Icon: LucideIcon; title: string; text: string }[] = [
  { Icon: Clock, title: "Use a tool", text: "What day is it today, and what time is it?" },
  {
    Icon: Lightbulb,
    title: "Understand",
    text: "Explain how a heat pump works, in five sentences.",
  },
  { Icon: PenLine, title: "Write", text: "Write a short, friendly note to a new neighbour." },
  { Icon: Terminal, title: "Code", text: "Write a Python function that finds duplicate files." },
];

interface WelcomeProps {
  disabled: boolean;
  /** Asks it at once. */
  onSuggestion: (text: string) => void;
}

export function Welcome({ disabled, onSuggestion }: WelcomeProps) {
  return (
    <div className="column welcome">
      <Logo size={52} />
      <h1>What would you like to know?</h1>
      <p className="muted place">
        <Place />
      </p>
      <ul className="suggestions" aria-label="Questions to begin with">
        {SUGGESTIONS.map(({ Icon, title, text }) => (
          <li key={text}>
            <button
              type="button"
              className="suggestion"
              disabled={disabled}
              onClick={() => onSuggestion(text)}
            >
              <Icon size={17} aria-hidden />
              <span>
                <strong>{title}</strong>
                <span>{text}</span>
              </span>
            </button>
          </li>
        ))}
      </ul>
    </div>
  );
}

const placeOf = (state: AppState) => placeWords(state.models, state.web);

/** Empty until it is known to be true. */
function Place() {
  return useAppState(placeOf);
}
