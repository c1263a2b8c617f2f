"""The generator: the agent that answers, with the tool dispatcher in its process."""
