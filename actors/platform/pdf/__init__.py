"""Reading PDFs: a process of its own reads one, by rows, columns and marks, and hands back pages of text."""
