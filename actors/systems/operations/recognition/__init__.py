"""Reading one item: vendors, numbers of invoices, amounts, days, addresses, and what is said to be paid."""
