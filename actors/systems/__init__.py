"""Systems: what people use. Each is a folder that declares what it brings, and does not import the others."""
