"""web_fetch: what does one web page say?"""
