"""One router per noun. A request is one transaction, committed at the edge."""
