"""The parts that `signoff up` brings up, each with what it needs to be up before it."""
