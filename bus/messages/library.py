"""What may be asked of the library of documents?

Envelopes carry user_id: the store searches that user's collections and the shared ones.
"""

from __future__ import annotations

from typing import Annotated

from msgspec import Struct

from bus import subjects
from bus.messages.base import Message, about


class SearchDocuments(Message, frozen=True):
    """Search the documents that a user may read (envelope: user_id). Answered by `PassagesFound`.

    Refused with `not_found` where there is no such collection.
    """

    SUBJECT = "document_store.search"

    query: Annotated[str, about("What to look for, by meaning and by words.", min_length=1, max_length=2000)]
    collection: Annotated[str, about("Only in this collection; empty for all.", max_length=200)] = ""
    limit: Annotated[int, about("At most so many passages.", ge=1, le=50)] = 5


class Passage(Struct, frozen=True, kw_only=True):
    """A piece of a document, and where it stands."""

    passage_id: Annotated[str, about("Its id: the same piece has it in every search.")]
    document_id: Annotated[str, about("The document's id.")]
    title: Annotated[str, about("The document's title, or its file's name.")]
    owner: Annotated[str, about("Whose collection it is in; empty for a shared one. Who asks checks it again.")]
    text: Annotated[str, about("The piece.")]
    collection: Annotated[str, about("The collection's name.")] = ""
    page: Annotated[int | None, about("The page, from 1; null where the format has none.")] = None
    heading: Annotated[str, about("The heading above it; may be empty.")] = ""
    position: Annotated[int, about("Counts the document's pieces from 0.", ge=0)] = 0
    score: Annotated[float, about("How well it fits; higher is better.")] = 0.0


class PassagesFound(Message, frozen=True):
    """What fits, the best first."""

    SUBJECT = subjects.INBOX

    passages: Annotated[list[Passage], about("Of collections that the user may read.")]
