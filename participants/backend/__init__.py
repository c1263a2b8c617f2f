"""The model server: who answers, and how it is asked. For every participant that has a model."""
