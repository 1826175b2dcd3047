"""What every benchmark stands on: servers, the machine, figures, and the page of results."""
