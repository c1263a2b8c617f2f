// What does the mock's model say? A list of steps for each kind of question.

const think = (text) => ({ do: "think", text });
const say = (text) => ({ do: "say", text });
const tool = (name, args, result, sources = [], outcome = "ok", seconds = 0.8) => ({
  do: "tool",
  name,
  args,
  result,
  sources,
  outcome,
  seconds,
});

const PYTHON = `Files are the same when their contents are, so the size is a cheap first filter and a hash decides.

\`\`\`python
"""Finds files with the same contents below a folder."""
import hashlib
from collections import defaultdict
from pathlib import Path


def digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def duplicates(root: Path) -> list[list[Path]]:
    by_size = defaultdict(list)
    for path in root.rglob("*"):
        if path.is_file():
            by_size[path.stat().st_size].append(path)

    by_digest = defaultdict(list)
    for paths in by_size.values():
        if len(paths) > 1:  # a size of its own has no twin
            for path in paths:
                by_digest[digest(path)].append(path)
    return [same for same in by_digest.values() if len(same) > 1]
\`\`\`

Three things to know:

1. **Memory** stays small, because \`file_digest\` reads in pieces.
2. **Links** are followed by \`stat\`; add \`not path.is_symlink()\` to skip them.
3. **Empty files** all count as the same.

| Step | Reads | Cost |
| --- | --- | ---: |
| by size | names only | cheap |
| by hash | whole files | I/O |

> Run it on a copy before you delete anything.
`;

const PUMP = `A heat pump moves heat instead of making it. A fluid that boils far below freezing takes up heat from the outside air and becomes a gas. A compressor squeezes that gas, which makes it hot. Inside the house the gas gives its heat to the heating water, and turns back into a fluid. An expansion valve lets the pressure go, the fluid cools down, and the round begins again.

Each unit of electricity moves **three to four** units of heat.`;

const HOSTILE = `Nothing here may run or load.

<img src=x onerror="document.title='run'"> <script>document.title='run'</script>

![a picture](https://tracker.example/pixel.png?secret=1)

[click me](javascript:document.title='run') and [data](data:text/html,hello) and [fine](https://example.org/a)
`;

export function stepsFor(query) {
  const text = query.toLowerCase();
  if (/\b(day|time|date)\b/.test(text)) {
    return [
      think("The user wants the date and the time. I have a tool for that, so I should call it."),
      tool(
        "get_datetime",
        { timezone: "local" },
        '{"iso":"2025-11-30T22:52:07+01:00","weekday":"Sunday","timezone":"Europe/Vienna"}',
        [],
        "ok",
        0.003,
      ),
      say("It is **Sunday, 30 November 2025**, eight minutes to eleven in the evening (Vienna)."),
    ];
  }
  if (/search|news/.test(text)) {
    return [
      think("I do not know this. Let me search the web, then read the best result."),
      tool("web_search", { query: "zeromq pub sub slow joiner" }, "1. …\n2. …\n3. …", [
        {
          title: "Chapter 5: Advanced Pub-Sub Patterns",
          url: "https://zguide.zeromq.org/docs/chapter5/",
        },
        { title: "zmq_socket(3)", url: "https://libzmq.readthedocs.io/en/latest/zmq_socket.html" },
        { title: "not a link", url: "javascript:alert(1)" },
      ]),
      tool(
        "web_fetch",
        { url: "https://zguide.zeromq.org/docs/chapter5/" },
        "It took longer than 10 s.",
        [],
        "timeout",
        10,
      ),
      tool("notes.add", { text: "slow joiner", tags: ["zmq", "bus"] }, '{"id":17}'),
      say(
        "A subscriber that connects late misses what was published before: the *slow joiner*. A probe to its own inbox shows when it is ready.",
      ),
    ];
  }
  if (/code|python|function/.test(text)) {
    return [think("Size first, then hash. Keep it short and typed."), say(PYTHON)];
  }
  if (/hostile/.test(text)) {
    return [say(HOSTILE)];
  }
  if (/fail/.test(text)) {
    return [think("Hm."), say("The first part of an answer, "), { do: "fail" }];
  }
  if (/approve/.test(text)) {
    return [{ do: "approve" }, say("Done: the note is saved.")];
  }
  if (/drop/.test(text)) {
    return [say(PUMP.slice(0, 200)), { do: "drop" }, say(PUMP.slice(200))];
  }
  if (/gap/.test(text)) {
    return [
      say(PUMP.slice(0, 100)),
      { do: "lose", text: PUMP.slice(100, 160) },
      say(PUMP.slice(160)),
    ];
  }
  if (/restart/.test(text)) {
    return [say(PUMP.slice(0, 200)), { do: "restart" }, say(PUMP)];
  }
  if (/long/.test(text)) {
    return [think("At length, then."), say(Array.from({ length: 12 }, () => PUMP).join("\n\n"))];
  }
  return [think("Five sentences, plain words. Evaporate, compress, condense, expand."), say(PUMP)];
}

/** Words, as a model's tokens come. */
export function piecesOf(text) {
  return text.match(/\s*\S+|\s+$/g) ?? [];
}
