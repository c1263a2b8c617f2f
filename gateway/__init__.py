"""What a person meets: the HTTP and WebSocket gateway, the web page and the `local2` command."""
