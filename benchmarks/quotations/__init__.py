"""Reading what was written in quotations without the code that wrote it."""
