"""web_search: what does the web say about some words?"""
