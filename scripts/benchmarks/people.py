"""What 40 made-up people told, and what they ask later: 25 facts each, in other words than their questions.

Four facts of each are out of date: a later one says otherwise. Some deny something, beside one that affirms its like.
"""

from __future__ import annotations

from dataclasses import dataclass

PEOPLE = 40


@dataclass(frozen=True)
class Topic:
    """A fact's kind."""

    told: str
    asked: str
    values: tuple[str, ...]
    later: str = ""
    """How another value is told that takes its place; empty where none does."""


@dataclass(frozen=True)
class Question:
    """A question, and the one fact that answers it."""

    text: str
    fact: str
    sort: str


TOPICS = (
    Topic("I live in {}.", "Which city is my home?", ("Lisbon", "Graz", "Turku", "Leeds"), "We have moved to {}."),
    Topic("I work as a {}.", "What is my job?", ("nurse", "welder", "notary", "baker"), "I retrained as a {}."),
    Topic(
        "My car is a {}.", "What do I drive?", ("Skoda", "Fiat", "Volvo", "Dacia"), "I sold my old car and bought a {}."
    ),
    Topic(
        "My dentist is Dr. {}.",
        "Who looks after my teeth?",
        ("Amato", "Brandt", "Costa", "Duval"),
        "I switched to Dr. {} for dental care.",
    ),
    Topic("I do not eat {}.", "Which food do I avoid?", ("pork", "cheese", "eggs", "shrimps")),
    Topic("I love eating {}.", "What is my favourite dish?", ("lasagne", "pierogi", "ramen", "paella")),
    Topic("I never drink {}.", "Which beverage should nobody offer me?", ("coffee", "wine", "milk", "beer")),
    Topic(
        "In the morning I drink {}.", "What do I have for breakfast to drink?", ("cocoa", "mate", "green tea", "juice")
    ),
    Topic("My sister is called {}.", "What is the name of my female sibling?", ("Ines", "Judith", "Katja", "Lucy")),
    Topic("My son {} goes to primary school.", "How is my child named?", ("Max", "Noah", "Otto", "Paul")),
    Topic("Our dog is a {}.", "What breed is my pet?", ("beagle", "poodle", "boxer", "collie")),
    Topic("I play the {}.", "Which instrument have I learned?", ("cello", "oboe", "trumpet", "harp")),
    Topic("On Tuesdays I go {}.", "What sport do I do in the week?", ("climbing", "swimming", "rowing", "fencing")),
    Topic("My wedding was in {}.", "When did I get married?", ("1999", "2004", "2011", "2018")),
    Topic("My passport runs out in {}.", "Until when can I travel with my papers?", ("2027", "2028", "2029", "2031")),
    Topic("The PIN of the garage is {}.", "What code opens the place for the car?", ("4711", "2580", "9034", "6152")),
    Topic(
        "I take {} for my blood pressure.",
        "Which medicine do I swallow?",
        ("ramipril", "enalapril", "losartan", "valsartan"),
    ),
    Topic("I cannot stand {} music.", "What should not be on the playlist?", ("techno", "country", "brass", "metal")),
    Topic("My laptop runs {}.", "Which operating system do I use?", ("Debian", "Fedora", "Windows", "macOS")),
    Topic("For holidays we go to {}.", "Where do we spend our vacation?", ("Crete", "Norway", "Sardinia", "Brittany")),
    Topic("My mother was born in {}.", "Where does my mum come from?", ("Riga", "Bari", "Cork", "Ghent")),
)


def facts(person: int) -> list[str]:
    """What a person told, oldest first; what was told later comes last."""
    first = [topic.told.format(_value(topic, person)) for topic in TOPICS]
    return first + [topic.later.format(_value(topic, person + 1)) for topic in TOPICS if topic.later]


def questions(person: int) -> list[Question]:
    """What the person asks, each with what answers it now."""
    out: list[Question] = []
    for topic in TOPICS:
        fact = (
            topic.later.format(_value(topic, person + 1)) if topic.later else topic.told.format(_value(topic, person))
        )
        denied = " not " in fact or " never " in fact or " cannot " in fact
        out.append(Question(topic.asked, fact, "updated" if topic.later else "denied" if denied else "told"))
    return out


def _value(topic: Topic, person: int) -> str:
    return topic.values[(person + person // 4) % len(topic.values)]


CHATTER = (
    "Write a Python function that sorts a list.",
    "Explain how a heat pump works.",
    "What time is it in Tokyo?",
    "Translate good morning into Spanish.",
    "Who wrote Hamlet?",
    "What is 17 times 23?",
    "Summarise the plot of Moby Dick.",
    "Name three prime numbers.",
    "Why is the sky blue?",
    "Tell me a joke.",
)
"""Questions that none of the facts answers."""
