"""What is in a page: bytes of HTML, PDF or text into Markdown with what the page says of itself."""
