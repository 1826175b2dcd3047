"""Personal data is taken out of texts before anything of them is kept."""
