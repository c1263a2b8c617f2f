"""What can go wrong in the embedded model that a caller acts on."""


class WeightsUnavailable(Exception):
    """The model's files are not here and could not be brought; the message says what to do about it."""


class EngineUnavailable(Exception):
    """The engine cannot run now (no weights, unsuitable CPU, failed load); the message is meant for the user."""


class Refused(Exception):
    """A request that is answered with an HTTP error and words, as Ollama would."""

    def __init__(self, message: str, status: int = 400) -> None:
        super().__init__(message)
        self.message = message
        self.status = status


class ContextOverflow(Refused):
    """The prompt does not fit the context; carries both numbers in tokens."""

    def __init__(self, prompt_tokens: int, num_ctx: int) -> None:
        super().__init__(
            f"the prompt is {prompt_tokens} tokens long and the context (num_ctx) holds {num_ctx}: "
            "shorten the conversation, or start a new one"
        )
        self.prompt_tokens = prompt_tokens
        self.num_ctx = num_ctx
