"""Stores that are one SQLite file with one owner."""
