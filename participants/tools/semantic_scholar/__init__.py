"""search_papers: which scientific papers are there on something?"""
