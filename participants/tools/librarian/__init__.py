"""consult_librarian: searches the library several times for a question, and sums up what it finds."""
