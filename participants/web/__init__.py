"""How does a tool ask something on the web, within limits? Shared by the tools that do; no process of its own."""
