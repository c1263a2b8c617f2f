"""The embedded model: Ollama's HTTP API over llama.cpp. Importing this package loads nothing heavy."""
