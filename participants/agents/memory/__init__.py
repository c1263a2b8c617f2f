"""The agent that remembers: it recalls for each question, and keeps what was said."""
