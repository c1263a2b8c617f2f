"""The message bus: envelopes, subjects, typed messages, the client and the proxy."""
