"""The HTTP door: Ray Serve applications. `serve` is this package; Ray's is imported as `ray_serve`."""
