"""The REST interface and the page, one module a resource."""
